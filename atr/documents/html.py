"""The HTML documents: one self-contained file each, without scripts and without a network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from markupsafe import Markup

from atr.documents import fonts, templates
from atr.documents.charts.palette import dark_css
from atr.documents.sections import Section, numbered
from atr.documents.text.words import Words
from atr.programme.font_files import FontFile
from atr.report.model import PublicReport


@dataclass(frozen=True)
class ReportPage:
    """The report as one HTML page, for screens and for paper.

    Parameters
    ----------
    report
        What is published.
    sha256
        The hash of ``report.json``, which the page prints.
    supplied
        Fonts for the characters that no bundled font has.
    """

    report: PublicReport
    sha256: str
    supplied: Sequence[FontFile] = ()

    @property
    def screen(self) -> str:
        """Fonts are embedded."""
        return self._html(paper=False)

    @property
    def paper(self) -> str:
        """For WeasyPrint: fonts are named, and the longest tables end earlier."""
        return self._html(paper=True)

    @cached_property
    def _words(self) -> Words:
        return Words.of(self.report)

    @cached_property
    def _sections(self) -> list[Section]:
        return numbered(self._words)

    def _html(self, *, paper: bool) -> str:
        words, language = self._words, self._words.language
        html = templates.render(
            "report/report.html.jinja",
            language=language,
            report=self.report,
            words=words,
            sections=self._sections,
            see=partial(_see, words, {section.id: section for section in self._sections}),
            period=language.period(self.report.period),
            running=running_head(words),
            link=link,
            sha256=self.sha256,
            dark=Markup(dark_css()),  # noqa: S704 - colours of the palette
            paper=paper,
        )
        return fonts.with_fonts(html, embedded=not paper, supplied=self.supplied)


def _see(words: Words, sections: Mapping[str, Section], id: str) -> Markup:
    """A link to a section by its number; to the report's numbers where there is no such section."""
    if id not in sections:
        return Markup('<a href="report.json">report.json</a>')
    number = sections[id].number
    name = (
        words.say("annex {number}", number=number)
        if sections[id].annex
        else words.say("section {number}", number=number)
    )
    return Markup('<a href="#{}">{}</a>').format(id, name)


def running_head(words: Words) -> str:
    """What stands at the foot of every page: the title, the place and the period."""
    programme = words.report.programme
    where = [part for part in (programme.place, words.report.period.label) if part]
    return " · ".join([shorten(programme.title, 60), ", ".join(where)]).removesuffix(" · ")


def shorten(text: str, length: int) -> str:
    """Shorten a text to at most so many letters, with an ellipsis where it was cut.

    >>> shorten("a long title", 8)
    'a long…'
    """
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def link(text: str) -> str:
    """The address that a contact links to: a mail address or a web address; empty for everything else.

    >>> link("a@example.org"), link("https://example.org"), link("javascript:alert(1)"), link("Room 12")
    ('mailto:a@example.org', 'https://example.org', '', '')
    """
    if re.fullmatch(r"[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+", text):
        return f"mailto:{text}"
    return text if re.fullmatch(r"https?://[^\s\"'<>\\]+", text) else ""
