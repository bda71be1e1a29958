"""At a glance: the figures a reader sees first, a plain sentence beside each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from atr.documents.comparisons import other, ratios, rule, same_people
from atr.report import wording
from atr.report.model import Fairness, PublicReport


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How many comparisons meet a line, do not, cannot be told for privacy, and have too few people for a verdict."""

    met: int
    not_met: int
    cannot_tell: int
    too_few: int = 0

    @property
    def total(self) -> int:
        return self.met + self.not_met + self.cannot_tell + self.too_few


def context(report: PublicReport) -> dict[str, Any]:
    """What the section prints."""
    kept, again = counted_once(report)
    return {
        "verdicts": verdicts(kept),
        "fairness": fairness(verdicts(kept), wording.rule_name(rule(report))),
        "counted_again": again,
        "every": verdicts(report.fairness),
    }


def verdicts(entries: Iterable[Fairness]) -> Verdicts:
    """How many comparisons have which verdict."""
    found = Counter("too_few" if e.reason == "too_few_people" else e.verdict for e in entries)
    return Verdicts(found["met"], found["not_met"], found["cannot_tell"], found["too_few"])


def counted_once(report: PublicReport) -> tuple[list[Fairness], list[str]]:
    """The comparisons with a reference by the p%-rule, and which groups are left out as counted already.

    Left out is a group of the very people of an earlier one, by another attribute or intersection, with the same
    verdict. With another verdict, for its reference can be another, it is counted.
    """
    people, kept, again = same_people(report), list[Fairness](), list[str]()
    seen: set[tuple[object, str]] = set()
    for e in (e for e in ratios(report) if e.reference in e.groups and e.verdict):
        who = e.attribute, other(e)
        key = people.get(who, who), e.reason or e.verdict or ""
        if key in seen:
            again.append(other(e))
        else:
            seen.add(key)
            kept.append(e)
    return kept, again


def fairness(found: Verdicts, rule: str) -> str:
    """How many comparisons a rule was met in, as a sentence."""
    pair, private = "of a group with its reference group", "be told from a report this private"
    if found.total == 1:
        if found.too_few:
            return f"The one comparison {pair} has too few people for a verdict."
        if found.cannot_tell:
            return f"Whether the one comparison {pair} meets the {rule} cannot {private}."
        return f"The one comparison {pair} {'meets' if found.met else 'does not meet'} the {rule}."
    if found.met == found.total:
        return f"All {found.total} comparisons {pair} meet the {rule}."
    if found.not_met == found.total:
        return f"None of the {found.total} comparisons {pair} meets the {rule}."
    if found.cannot_tell == found.total:
        return f"For none of the {found.total} comparisons {pair} can it {private} whether it meets the {rule}."
    rest = "" if found.met else f" meet the {rule}"
    parts = (
        (found.met, f"{'meets' if found.met == 1 else 'meet'} the {rule}"),
        (found.not_met, f"{'does' if found.not_met == 1 else 'do'} not{rest}"),
        (found.cannot_tell, ""),
        (found.too_few, f"{'has' if found.too_few == 1 else 'have'} too few people for a verdict"),
    )
    said = [f"{n} {what}" if what else f"for {n} it cannot {private}" for n, what in parts if n]
    return f"Of {found.total} comparisons {pair}, {wording.listed(said)}."
