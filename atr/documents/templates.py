"""The templates folder and the Jinja environment that every document is made in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from atr.core.display_text import isolated, printable
from atr.documents.text.language import Language


def folder() -> Path:
    """The templates folder: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_templates"
    return installed if installed.is_dir() else package.parent / "templates"


@cache
def environment() -> jinja2.Environment:
    """The environment of all documents: everything is escaped, undefined names fail.

    Characters that control the text instead of showing are replaced, whoever supplied them; words written from right to
    left are isolated.
    """
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    made.globals["direction"] = direction
    made.filters["join"] = _joined
    return made


def render(name: str, *, language: Language | None = None, **context: Any) -> str:
    """Render one template.

    Parameters
    ----------
    name
        Path below the templates folder, such as ``report/report.html.jinja``.
    language
        The language of its messages: ``say`` and ``say_n`` of the template escape the values of a message, not the
        message; None: English.
    **context
        Variables of the template.
    """
    spoken = language or Language.of("en")

    def say(message: str, **values: Any) -> Markup:
        return Markup(spoken.catalogue.gettext(message)).format(**_all_visible(values))  # noqa: S704

    def say_n(one: str, many: str, n: int, **values: Any) -> Markup:
        found = Markup(spoken.catalogue.ngettext(one, many, n))  # noqa: S704
        return found.format(n=spoken.number(n), **_all_visible(values))

    return environment().get_template(name).render({"say": say, "say_n": say_n, "lang": spoken} | context)


def _all_visible(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _visible(value) for name, value in values.items()}


def direction(language: str) -> str:
    """In which direction a language is written, as the ``dir`` of a document.

    >>> direction("en"), direction("he")
    ('ltr', 'rtl')
    """
    return "rtl" if language in ("ar", "he") else "ltr"


def _joined(items: Iterable[Any], between: str = "") -> Markup:
    """Join what is each escaped and visible, since what is joined is not looked at again."""
    return Markup(between).join(_visible(item) for item in items)  # noqa: S704 - a separator of a template


def _visible(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    address = value.startswith(("http:", "https:"))
    return printable(value) if address else isolated(printable(value))
