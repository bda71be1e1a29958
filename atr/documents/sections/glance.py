"""At a glance: the figures a reader sees first, a plain sentence beside each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from atr.documents.comparisons import other, ratios, rule, same_people
from atr.documents.text import wording
from atr.report.model import Fairness, PublicReport


def context(report: PublicReport) -> dict[str, Any]:
    """The variables of the template."""
    kept, again = counted_once(report)
    return {
        "verdicts": verdicts(kept),
        "fairness": fairness(verdicts(kept), wording.rule_name(rule(report))) if kept else "",
        "counted_again": again,
        "every": verdicts(report.fairness),
    }


def verdicts(entries: Iterable[Fairness]) -> Counter[str]:
    """Count the verdicts: met, not_met, cannot_tell (because of privacy), too_few_people and different_times."""
    return Counter(
        e.reason if e.reason in ("too_few_people", "different_times") else e.verdict for e in entries if e.verdict
    )


def counted_once(report: PublicReport) -> tuple[list[Fairness], list[str]]:
    """The comparisons with a reference by the p%-rule, each group of people counted once.

    A group is left out if another attribute or intersection has a group of the same people, earlier in the report, with
    the same verdict. The verdicts can differ, because the references can.

    Returns
    -------
    The comparisons that count, and the groups left out.
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


def fairness(found: Counter[str], rule: str) -> str:
    """State how many comparisons meet a rule.

    Parameters
    ----------
    found
        The number of comparisons by verdict, not empty.
    rule
        The name of the rule.
    """
    pair, private, total = "of a group with its reference group", "be told from a report this private", found.total()
    of_one = {
        "met": f"The one comparison {pair} meets the {rule}.",
        "not_met": f"The one comparison {pair} does not meet the {rule}.",
        "cannot_tell": f"Whether the one comparison {pair} meets the {rule} cannot {private}.",
        "too_few_people": f"The one comparison {pair} has too few people for a verdict.",
        "different_times": f"The one comparison {pair} is of numbers of different times and has no verdict.",
    }
    of_several = {
        "met": f"All {total} comparisons {pair} meet the {rule}.",
        "not_met": f"None of the {total} comparisons {pair} meets the {rule}.",
        "different_times": f"All {total} comparisons {pair} are of numbers of different times and have no verdict.",
        "cannot_tell": f"For none of the {total} comparisons {pair} can it {private} whether it meets the {rule}.",
    }
    verdict, most = found.most_common(1)[0]
    if most == total and (total == 1 or verdict in of_several):
        return (of_one if total == 1 else of_several)[verdict]
    met, not_met, cannot_tell, too_few, times = (found[v] for v in of_one)
    parts = (
        (met, f"{met} {'meets' if met == 1 else 'meet'} the {rule}"),
        (not_met, f"{not_met} {'does' if not_met == 1 else 'do'} not{'' if met else f' meet the {rule}'}"),
        (cannot_tell, f"for {cannot_tell} it cannot {private}"),
        (too_few, f"{too_few} {'has' if too_few == 1 else 'have'} too few people for a verdict"),
        (times, f"{times} {'is' if times == 1 else 'are'} of numbers of different times"),
    )
    return f"Of {total} comparisons {pair}, {wording.listed([text for count, text in parts if count])}."
