"""Reports in German."""

from __future__ import annotations

from atr.programme.reading import load
from atr.report.build import programme_info
from atr.report.model import PublicReport
from tests.helpers.paths import EXAMPLES


def in_german(report: PublicReport) -> PublicReport:
    """The report in German, in general words unless it has German ones."""
    return report.model_copy(update={"programme": report.programme.model_copy(update={"language": "de"})})


def in_words_of(example: str, report: PublicReport) -> PublicReport:
    """The report in German with the nouns and phrases of a bundled programme of the same attributes."""
    programme = load(EXAMPLES / example)
    attributes = tuple(
        a.model_copy(update={"group_phrases": programme.attributes[a.name].group_phrases(a.values)})
        for a in report.attributes
    )
    return in_german(report.model_copy(update={"programme": programme_info(programme), "attributes": attributes}))
