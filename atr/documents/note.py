"""The note on released records, two pages at most: HTML and PDF, rendered from their ``channel.json`` alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from markupsafe import Markup

from atr.documents import fonts, templates
from atr.documents.charts.palette import dark_css
from atr.documents.html import link, shorten
from atr.documents.pdf import pdf
from atr.documents.text import records as text
from atr.documents.text.beside import also_published
from atr.documents.text.records import RecordsWords
from atr.programme.font_files import FontFile
from atr.records.model import CHANNEL, NOTE, NOTE_PDF, PublicRecords


def contents(records: PublicRecords, *, supplied: Sequence[FontFile] = ()) -> dict[str, bytes]:
    """Render the note; the same records give the same bytes.

    Parameters
    ----------
    records
        What is public of them.
    supplied
        Fonts for the characters that no bundled font has.

    Returns
    -------
    The content of each file, by name.

    Raises
    ------
    EnvironmentFault
        If the libraries that lay out the PDF are missing.
    """
    channel = records.to_json().encode()
    sha256 = hashlib.sha256(channel).hexdigest()
    paper = _html(records, sha256, embedded=False, supplied=supplied)
    attached = {CHANNEL: (channel, "The channel, machine-readable")}
    return {
        NOTE: _html(records, sha256, embedded=True, supplied=supplied).encode(),
        NOTE_PDF: pdf(paper, date=records.date, identifier=sha256[:32], attachments=attached),
    }


def _html(records: PublicRecords, sha256: str, *, embedded: bool, supplied: Sequence[FontFile]) -> str:
    words = RecordsWords.of(records)
    language = words.language
    where = ", ".join(filter(None, [records.programme.place, records.period.label]))
    html = templates.render(
        "records/note.html.jinja",
        language=language,
        records=records,
        programme=records.programme,
        words=words,
        text=text,
        also_published=also_published,
        period=language.period(records.period),
        running=f"{shorten(records.programme.title, 60)} · {words.say('released records')} · {where}",
        link=link,
        sha256=sha256,
        dark=Markup(dark_css()),  # noqa: S704 - colours of the palette
    )
    return fonts.with_fonts(html, embedded=embedded, supplied=supplied)
