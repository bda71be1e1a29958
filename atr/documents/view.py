"""From a public report to what the templates print. Pure functions: nothing is read, nothing is measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atr.documents import changes, charts, individual, sampling
from atr.documents import fairness as parity
from atr.documents import influence as importance
from atr.documents.choices import choices
from atr.documents.rules import Rules, name_of, rules
from atr.report import wording
from atr.report.model import Group, Leakage, PublicReport
from atr.report.privacy import YARDSTICKS
from atr.report.sampling import level

_UNATTAINABLE = {"withhold": "withheld", "coarsen": "coarsened, or else withheld", "flatten": "flattened"}
_SYMBOLS = {"delta": "δ", "alpha": "α"}
_ROOM_FOR_NAMES = 700
"""Letters of withheld groups' names that a one-page report has room for."""


GLOSSARY = (
    ("Announced chance", "The probability of an outcome in a decision region as this report shows it."),
    (
        "Coarsened",
        "Merged under coarser values, because the groups were too small or their people could be guessed too well; the "
        "people of other groups are not in it.",
    ),
    ("Decision region", "Everybody who shares all public and all sensitive values."),
    (
        "Flattened",
        "Showing the overall rate as the chance of everybody in the group, because prior knowledge alone exceeds the "
        "ceiling.",
    ),
    ("Group (QID group)", "Everybody who shares all public values, the quasi-identifiers."),
    ("Fidelity", "How close announced chances are to the true ones: a promise that holds for every chance."),
    (
        "Maximum confidence, β",
        "How sure, at most, a reader who takes the rules at face value can be of a sensitive value; 0 to 1.",
    ),
    *YARDSTICKS,
    (
        "Influence of an input",
        "By how much the announced chance changes, on average, if the input is drawn anew from all people while "
        "everything else stays. Datta, Sen, Zick [DSZ].",
    ),
    (
        "Partial dependence",
        "The average announced chance if everybody had one value of an input and stayed as they are otherwise [F].",
    ),
    ("Rate", "The share of an outcome among people."),
    (
        "Reference",
        "The group that others are compared with: named by the publisher, or else of the highest rate or most people.",
    ),
    (
        "Shapley value",
        "What an input adds to the influence of all inputs together, averaged over all orders in which they can be "
        "drawn anew [S].",
    ),
    (
        "Surrogate tree",
        "A few questions that sort people into kinds and give each kind its average announced chance [BFOS].",
    ),
    ("Withheld", "Not announced: a group that is too small, or whose people could be guessed too well anyway."),
)


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered section of the report and its entry in the contents."""

    id: str
    number: str
    title: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the section "At a glance"."""

    label: str
    figure: str
    text: str


def context(report: PublicReport, *, sha256: str) -> dict[str, Any]:
    """All that the report's template needs.

    Parameters
    ----------
    report
        What is published.
    sha256
        The hash of ``report.json``.
    """
    compared, table, found = parity.protected(report), rules(report), parity.verdicts(report)
    everything = parity.all_verdicts(report)
    rule, like = wording.rule_name(parity.rule(report)), individual.alike(report)
    since = changes.introduction(report)
    return {
        "report": report,
        "sha256": sha256,
        "w": wording,
        "short_title": shorten(report.programme.title, 60),
        "short_publisher": shorten(report.programme.publisher.name, 50),
        "period": wording.period(report.period),
        "sections": sections(compared, like=bool(like), since=bool(since)),
        "glance": glance(report),
        "rules": table,
        "example": example(table, report),
        "rows_rounding": rows_rounding(report),
        "protected": compared,
        "influence": importance.section(report),
        "not_compared": parity.not_compared(report),
        "verdicts": found,
        "lines": parity.lines(report),
        "too_few": parity.too_few(report),
        "fairness": fairness(found, rule, once=parity.counted_once(report)[1]) if found.total else "",
        "all_lines": all_lines(everything, alike=bool(like)) if everything.total > found.total else "",
        "public_titles": [a.title for a in report.attributes if a.role == "public"],
        "titles": {a.name: a.title for a in report.attributes},
        "fidelity": fidelity(report),
        "glossary": glossary(report),
        "individual": like,
        "no_difference": individual.without_weight(report),
        "legend": charts.legend,
        "since_last": changes.printed(report),
        "since_last_intro": since,
        "sampling": sampling,
        "seen_as_sample": sampling.tables(report, compared),
        "policy": policy(report),
        "choices": choices(report),
        "website": link(report.programme.publisher.website),
        "contact": contact(report.programme.publisher.contact),
        "withheld": one_page_names(report),
    }


def glossary(report: PublicReport) -> tuple[tuple[str, str], ...]:
    """The terms that the report uses."""
    terms = dict(GLOSSARY)
    if not report.flattened_groups:
        del terms["Flattened"]
    if not report.coarsened_groups:
        del terms["Coarsened"]
    if report.fairness:
        terms |= _of_comparisons(report)
    return tuple(sorted(terms.items(), key=lambda term: term[0].lower()))


def _of_comparisons(report: PublicReport) -> dict[str, str]:
    """The terms of the section on fairness, as far as it uses them."""
    fewest = wording.count(report.policy.minimum_group_size, "person", "people")
    terms = {
        "Met, not met, cannot be told": "Verdicts on a comparison: the whole guaranteed range is on the allowed side "
        "of a line; none of it is; or the line lies within the range. No verdict, but “too few people”, is given for "
        f"fewer than {fewest}.",
        "Range, guaranteed": "Between which two numbers the true figure lies, whatever the true chances are, as long "
        "as the promise of fidelity is kept. No probability is in it. “Exact” means that the two are the same, up to "
        "rounding.",
    }
    if any(len(by.attributes) > 1 for by in report.compared):
        terms["Intersection"] = (
            "Several attributes taken together: its groups are the people who share a value of each of them."
        )
    if any(e.summary for e in report.fairness):
        terms["Class, worst class"] = (
            "A class is everybody alike in what may count. The worst class is the one in which two groups lie furthest "
            "apart."
        )
    interval = level(report)
    if interval and any(e.sampling for e in report.fairness):
        terms["Sampling interval"] = (
            f"Made, if the decisions are seen as a sample, so that of many such samples about {interval} have an "
            "interval that holds the figure of all decisions made in the same way. It says nothing of how far chances "
            "were altered."
        )
        terms["p value"] = (
            "How probable a difference at least this large would be if the decisions are a sample and two groups "
            "fare alike. The adjusted one (Holm) allows for the number of tests in this report."
        )
    return terms


def sections(compared: Sequence[parity.Protected], *, like: bool, since: bool) -> tuple[Section, ...]:
    """The contents of the report; ``like`` and ``since``: whether people who are alike, and releases, are compared."""
    titles = {
        "glance": "At a glance",
        "rules": "Announced decision rules",
        "fairness": "Fairness",
        "influence": "Influence of each input",
        "notes": "Fidelity notes",
        "quality": "Data quality",
        "method": "Method and glossary",
        "contact": "Contact, and how to contest a decision",
        "provenance": "Provenance",
    }
    found: list[Section] = []
    for i, (name, title) in enumerate(titles.items(), start=1):
        found.append(Section(name, str(i), title))
        if name == "fairness":
            parts = [(f"fairness-{k}", f"By {p.title}") for k, p in enumerate(compared, start=1)]
            parts += [("individual", "Like people alike")] * like + [("since", "Since the last report")] * since
            found += [Section(part, f"{i}.{k}", about, 3) for k, (part, about) in enumerate(parts, start=1)]
    return tuple(found)


def glance(report: PublicReport) -> tuple[Item, ...]:
    """The figures a reader sees first, a plain sentence beside each."""
    coverage, positive = report.coverage, report.positive
    share = wording.share_announced(report)
    flattened = len(report.flattened_groups)
    shows = "shows its" if flattened == 1 else "show their"
    instead = f" Of these groups {flattened:,} {shows} overall rate in place of rules." if flattened else ""
    if report.coarsened_groups:
        one = coverage.groups.coarsened == 1
        instead += (
            f" Of these groups {coverage.groups.coarsened:,} {'was' if one else 'were'} merged from "
            f"{coverage.groups.merged:,} that could not be announced on their own."
        )
    items = [
        Item(
            "Decisions",
            f"{coverage.decisions:,}",
            f"{_step(report)}{share} are in {wording.count(coverage.groups.announced, 'group')} whose rules are "
            f"announced.{instead}",
        )
    ]
    if coverage.rate is not None:
        one = coverage.groups.announced == 1
        who = "the announced group" if one else "announced groups"
        rates = "The rate of this group" if one else "The rates of these groups"
        exact = "was not altered" if one else "were not altered"
        exactness = exact if report.policy.group_rates == "exact" else "may be altered as well"
        items.append(
            Item(
                f"Outcome “{positive}”",
                wording.percent(coverage.rate[positive]),
                f"of the people in {who} had the favourable outcome, “{positive}”. {rates} {exactness}.",
            )
        )
    if report.privacy.max_confidence is not None:
        items.append(Item("Privacy", wording.percent(report.privacy.max_confidence), wording.guarantee(report)))
    elif report.privacy.flattened_confidence is not None:
        figure = wording.percent(report.privacy.flattened_confidence)
        items.append(Item("Prior knowledge", figure, wording.guarantee(report)))
    items.append(Item("Fidelity", _fidelity_figure(report), fidelity(report)))
    return tuple(items)


def _step(report: PublicReport) -> str:
    step = wording.decisions_step(report)
    return f"To the nearest {step:,}. " if step > 1 else ""


def fairness(found: parity.Verdicts, rule: str, *, once: Sequence[str] = ()) -> str:
    """How many comparisons a rule was met in, as a sentence; and that some groups, if named, were not counted again."""
    return f"{_fairness(found, rule)}{' The same people with one verdict count once.' if once else ''}"


def _fairness(found: parity.Verdicts, rule: str) -> str:
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
    parts = []
    if found.met:
        parts.append(f"{found.met} {'meets' if found.met == 1 else 'meet'} the {rule}")
    if found.not_met:
        rest = "" if found.met else f" meet the {rule}"
        parts.append(f"{found.not_met} {'does' if found.not_met == 1 else 'do'} not{rest}")
    if found.cannot_tell:
        parts.append(f"for {found.cannot_tell} it cannot {private}")
    if found.too_few:
        parts.append(f"{found.too_few} {'has' if found.too_few == 1 else 'have'} too few people for a verdict")
    return f"Of {found.total} comparisons {pair}, {wording.listed(parts)}."


def all_lines(found: parity.Verdicts, *, alike: bool = False) -> str:
    """How many of all verdicts in the report are which, those on individual fairness included, as a sentence."""
    added = ["parity", "other pairs", "people alike in what may count", *(["like people alike"] if alike else [])]
    return (
        f"Of all {found.total:,} verdicts in this report, line by line and with {wording.listed(added)}, "
        f"{found.met:,} {'is' if found.met == 1 else 'are'} “met”, {found.not_met:,} “not met” and "
        f"{found.cannot_tell + found.too_few:,} “cannot be told”."
    )


def rows_rounding(report: PublicReport) -> str:
    """How the numbers of rows were rounded; empty where they were not."""
    others = report.policy.population_rounding
    total = max(report.policy.minimum_group_size, others)
    if total == 1:
        return ""
    added = "the number read is what the others as printed add up to."
    floor = "" if others == 1 else f" Where there is a row at all, at least {others} are printed."
    if total == others:
        return f"Every number is rounded to the nearest {total}; {added}{floor}"
    fine = "the other numbers are exact" if others == 1 else f"the other numbers to the nearest {others}"
    return f"The number used is rounded to the nearest {total}, {fine}; {added}{floor}"


def fidelity(report: PublicReport) -> str:
    """The promise of fidelity, and which groups are outside it."""
    return wording.fidelity(report)


def example(table: Rules, report: PublicReport) -> str:
    """How to read the table of rules, by its first chance."""
    for block in table.blocks:
        for row in block.rows:
            if row.flattened:
                continue
            for column, cell in zip(table.columns if table.wide else (row.label,), row.cells, strict=True):
                if cell is not None:
                    who = ", ".join(part for part in (block.heading, row.label if table.wide else "") if part)
                    return (
                        f"The first chance is for people described as “{who}” and, in "
                        f"{table.column_title}, “{column}”: of 100 of them, about {cell.text} had the "
                        f"outcome “{report.positive}”, as announced."
                    )
    return ""


def policy(report: PublicReport) -> tuple[tuple[str, str], ...]:
    """The policy and the software as pairs of a name and a value."""
    p, privacy = report.policy, report.privacy
    rows = [
        ("Mechanism", f"{p.mechanism}, for a reader who takes the rules at face value"),
        ("Group rates", p.group_rates),
        ("Objective", p.objective),
        ("Fidelity", ", ".join(_promised(kind, level) for kind, level in p.fidelity.items())),
        ("Ceiling of the confidence", wording.percent(p.max_confidence)),
    ]
    own = [ceiling for a in report.attributes for ceiling in a.own_ceilings]
    rows += [(f"Its ceiling for {wording.under(report, name, s)}", wording.percent(x)) for name, s, x in own]
    if privacy.max_confidence is not None:
        rows.append(("Maximum confidence β", wording.number(privacy.max_confidence)))
    if privacy.prior_confidence is not None:
        rows.append(("Confidence without the report", wording.number(privacy.prior_confidence)))
    for of in privacy.own_ceilings:
        of_what = wording.under(report, of.attribute, of.set)
        rows.append((f"Maximum confidence for {of_what}", wording.number(of.max_confidence)))
        rows.append((f"Confidence for {of_what} without the report", wording.number(of.prior_confidence)))
    if privacy.min_uncertainty is not None:
        rows.append(("Minimum uncertainty γ = −ln β", f"{wording.number(privacy.min_uncertainty)} nats"))
    rows += _yardsticks(privacy.leakage)
    if privacy.flattened_confidence is not None:
        rows.append(
            ("Confidence in flattened groups, without the report", wording.number(privacy.flattened_confidence))
        )
    binding = next((g for g in report.groups if g.id == privacy.binding_group), None)
    if binding is not None:
        rows.append(("Group in which the confidence is highest", _name(binding, report)))
    titles = {a.name: a.title for a in report.attributes}
    for name, value in (privacy.binding_set or {}).items():
        rows.append(("Where the confidence is highest in it", f"{wording.raised(titles[name])}: {value}"))
    for a in report.attributes:
        rows += [(f"Protected as one, in {a.title}", f"{n}: {', '.join(v)}") for n, v in a.sets.items()]
    rows += [
        (
            "Fewest people of a group to be announced, and for a verdict",
            wording.count(p.minimum_group_size, "person", "people"),
        ),
        ("Groups that no alteration can protect", _UNATTAINABLE[p.unattainable]),
        ("Digits of a chance", str(p.digits)),
        (
            "Counts of people",
            f"to the nearest {p.population_rounding} for every rule" if p.population_rounding > 1 else "not rounded",
        ),
        ("Side information assumed", p.side_information),
        *(
            []
            if privacy.printed_confidence is None
            else [("Maximum confidence by the printed numbers of people", wording.number(privacy.printed_confidence))]
        ),
        ("Software", f"atr {report.provenance.atr}, format {report.schema_name}"),
    ]
    return tuple(rows)


def _yardsticks(leakage: Leakage | None) -> list[tuple[str, str]]:
    """The yardsticks of the printed rules, each for the group in which it is largest."""
    if leakage is None:
        return []
    named = (
        ("Local differential privacy", leakage.ldp, "nat"),
        ("Log-lift", leakage.log_lift, "nat"),
        ("Likeness gain", leakage.likeness_gain, ""),
        ("Min-entropy leakage", leakage.min_entropy_leakage, "bit"),
    )
    return [(f"{name}, in the worst group", _amount(value, unit)) for name, value, unit in named]


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "infinite"
    return f"{wording.number(value)} {unit}{'' if value == 1 else 's'}" if unit else wording.number(value)


def one_page_names(report: PublicReport) -> tuple[tuple[str, ...], int]:
    """Names of withheld groups that fit a one-page report, and how many more there are."""
    names: list[str] = []
    withheld = report.withheld_groups
    for group in withheld:
        name = _name(group, report)
        if sum(map(len, names)) + len(name) > _ROOM_FOR_NAMES:
            break
        names.append(name)
    return tuple(names), len(withheld) - len(names)


def shorten(text: str, length: int) -> str:
    """A text of at most so many letters, with an ellipsis where it was cut.

    >>> shorten("a long title", 8)
    'a long…'
    """
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def link(address: str) -> str:
    """A web address that is safe to link to; empty for anything else.

    >>> link("https://example.org"), link("javascript:alert(1)")
    ('https://example.org', '')
    """
    return address if re.fullmatch(r"https?://[^\s\"'<>\\]+", address) else ""


def contact(text: str) -> str:
    """Where a contact leads to: a mail address, a web address, or nowhere.

    >>> contact("a@example.org"), contact("Room 12")
    ('mailto:a@example.org', '')
    """
    return f"mailto:{text}" if re.fullmatch(r"[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+", text) else link(text)


def _name(group: Group, report: PublicReport) -> str:
    return name_of(group, [a for a in report.attributes if a.role == "public"])


def _promised(kind: str, level: float | None) -> str:
    return "limits declared for each rule" if level is None else f"{_SYMBOLS.get(kind, kind)} = {wording.number(level)}"


def _fidelity_figure(report: PublicReport) -> str:
    promised = report.fidelity
    if report.flattened_groups == report.announced_groups != ():
        return "none"
    if promised.level == 1 or promised.largest_change == 0:
        return "exact"
    if promised.kind == "alpha" and promised.level is not None:
        return f"× {wording.number(promised.level)} to {wording.inverse(promised.level)}"
    if promised.largest_change is not None:
        step = wording.points(promised.largest_change)
        return f"± {step} {'point' if step == '1' else 'points'}"
    return "within limits"
