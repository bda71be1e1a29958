"""Renew the catalogues of messages from the code and the templates: ``python -m atr.documents.catalogue``.

What is translated stays; new messages are added without a translation, and those that nobody says any more go.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from atr.documents import templates
from atr.documents.text import language

SAYING = {"say": None, "say_n": (1, 2), "later": None}
"""The functions whose first arguments are messages."""
_METHODS = [("**.py", "python"), ("**.jinja", "jinja2"), ("**.css", "jinja2")]


def messages() -> Catalog:
    """Every message of the documents, without translations, in the order of the alphabet."""
    found = Catalog()
    for id, place in sorted(_messages(), key=lambda found: (str(found[0]), found[1])):
        found.add(id, locations=[(place, 0)])
    return found


def renew(path: Path) -> None:
    """Bring a catalogue up to date with :func:`messages`."""
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.parent.name)
    catalogue.update(messages(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, catalogue, omit_header=True, include_lineno=False, sort_output=True, width=120)


def _messages() -> Iterator[tuple[str | tuple[str, ...], str]]:
    package, written = Path(__file__).parents[1], templates.folder()
    for folder in (package / "documents", written / "report", written / "site", written / "records"):
        found = extract_from_dir(str(folder), _METHODS, keywords=SAYING, options_map={"**.jinja": {"trimmed": "true"}})
        for path, _line, message, _comments, _context in found:
            yield (message if isinstance(message, str) else tuple(message)), f"{folder.name}/{path}"


if __name__ == "__main__":
    for path in sorted(language.FOLDER.glob("*/report.po")):
        renew(path)
