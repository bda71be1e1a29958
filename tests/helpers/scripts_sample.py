"""A report in several scripts."""

from __future__ import annotations

from atr.report.model import PublicReport
from tests.helpers.sample import attribute, report


def several_scripts() -> PublicReport:
    """A report whose values are written in several scripts."""
    attributes = (
        attribute("sex", "מין", ("גבר", "אישה"), protected=True),
        attribute("place", "क्षेत्र", ("उत्तर प्रदेश", "ज़िला 12")),
        attribute("debt", "الدين", ("أقل من ١٠", "10 إلى 25"), role="sensitive"),
    )
    counts = {
        ((sex, place), debt): (80 + 7 * i + 3 * j + k, (13 * i + 7 * j + 5 * k) % 101 / 100)
        for i, sex in enumerate(attributes[0].values)
        for k, place in enumerate(attributes[1].values)
        for j, debt in enumerate(attributes[2].values)
    }
    return report(attributes, counts, outcomes=("granted", "denied"), title="הלוואות: loans")
