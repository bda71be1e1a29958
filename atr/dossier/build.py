"""The review dossier: what perturbation changed, for the person who decides on publication. Private.

A document of its own, with its own type, folder and permissions: it shows the true decision mapping.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from atr.core.announcement import Announcement
from atr.core.arrays import PublishedPopulation, TrueMapping
from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.regions import DisclosureStatus, Regions
from atr.documents import templates
from atr.documents.fonts import with_fonts
from atr.dossier.privacy import Curves, Yardsticks, charts, curves, yardsticks
from atr.errors import RefusedError
from atr.measures import group_fairness as fairness
from atr.measures.cells import Cells
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.report import build as public
from atr.report import individual, model, wording
from atr.report.privacy import YARDSTICKS
from atr.verify.statements import check

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_STANDINGS = {
    DisclosureStatus.ANNOUNCED: "announced",
    DisclosureStatus.TOO_SMALL: "withheld: fewer people than the minimum",
    DisclosureStatus.PRIOR_TOO_SURE: "withheld: prior knowledge alone exceeds the ceiling",
    DisclosureStatus.FLATTENED: "flattened: prior knowledge alone exceeds the ceiling",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A decision region: its exact counts, its true and its announced chance of the positive outcome."""

    values: tuple[str, ...]
    population: int
    positives: int
    true: float
    announced: float | None
    change: float | None


@dataclass(frozen=True, slots=True)
class DossierGroup:
    """A QID group. ``beta`` is its optimal privacy under the policy.

    ``merged`` is how many groups of the log are in it; 0 where it was not merged.

    ``true_leakage`` is that of the true rules, ``announced_leakage`` that of the announced ones, both with the exact
    populations; None where the group is withheld or nothing was announced.
    """

    values: tuple[str, ...]
    status: str
    merged: int
    population: int
    prior: float
    true_confidence: float
    beta: float | None
    announced_confidence: float | None
    true_leakage: Yardsticks | None
    announced_leakage: Yardsticks | None
    binds: bool
    stated: bool
    """Whether the confidence that the report states is this group's."""
    cells: tuple[Cell, ...]

    @property
    def flattened(self) -> bool:
        """Whether it announces its rates for every region."""
        return self.status.startswith("flattened")


@dataclass(frozen=True, slots=True)
class TrueMeasure:
    """A fairness measure: as announced, its printed range, and the true value."""

    name: str
    true: float | None
    announced: float | None
    range: tuple[float | None, float | None]
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must hold before anybody reviews."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Difference:
    """An announced figure now and in the report before."""

    name: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Related:
    """The other reports that tell of the same people: waiting and published ones.

    ``overlapping`` are the periods that share days with this one, ``published`` the versions of this period.
    """

    overlapping: tuple[str, ...] = ()
    published: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dossier:
    """All a reviewer sees."""

    release: str
    title: str
    period: str
    refusal: str
    refusal_detail: str
    policy: dict[str, Any]
    report_date: str
    stated_confidence: float | None
    promised: str
    groups: tuple[DossierGroup, ...]
    curves: Curves | None
    measures: tuple[TrueMeasure, ...]
    checks: tuple[Check, ...]
    rows: dict[str, int]
    reasons: dict[str, int]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    factors: dict[str, float]
    """What confidences are divided by: for an attribute or a named set, the share of the policy's ceiling it may have.
    """


def build(
    *,
    programme: Programme,
    release_id: str,
    regions: Regions,
    solved: pd.DataFrame,
    announcement: Announcement | None,
    report: model.PublicReport | None,
    previous: model.PublicReport | None,
    accounting: Mapping[str, Any],
    unknown: Mapping[str, int],
    related: Related,
    refusal: RefusedError | None,
) -> Dossier:
    """Put the dossier of a run together.

    Parameters
    ----------
    programme, release_id
        What the run is about.
    regions, solved
        The true decision regions, and what the mechanism found of the groups that are to be announced.
    announcement, report
        What is announced; None where the run was refused.
    previous
        The public report of the period before, if there is one.
    accounting, unknown
        What became of the log's rows, and how many decisions of the period lack each attribute.
    related
        The other reports that tell of the same people.
    refusal
        Why the run was refused, if it was.
    """
    reasons = dict(accounting["reasons"])
    promise = None if announcement is None else announcement.fidelity
    beta = mechanism_of(programme.policy).columns(solved, promise, programme.policy)["beta"].to_numpy()
    rows = {k: v for k, v in accounting.items() if isinstance(v, int)}
    measures = tuple(_measures(programme, regions, announcement, report)) if announcement and report else ()
    checks = tuple(_checks(programme, regions, announcement, report, measures, rows)) if announcement and report else ()
    return Dossier(
        release=release_id,
        title=programme.title,
        period=release_id.rsplit("-v", 1)[0],
        refusal=refusal.message if refusal else "",
        refusal_detail=refusal.private if refusal else "",
        policy=programme.policy.model_dump(exclude={"fidelity", "side_information"})
        | {"side_information": programme.policy.assumed}
        | {kind: level for kind, level in programme.policy.promise.items() if level is not None}
        | ({"ranges": programme.policy.fidelity.ranges} if programme.policy.fidelity.ranges else {}),
        report_date=report.date if report else "",
        stated_confidence=report.privacy.max_confidence if report else None,
        promised=_promised(report) if report else "",
        groups=tuple(_groups(regions, beta, announcement)),
        curves=curves(regions, beta, announcement, programme.policy),
        measures=measures,
        checks=checks,
        rows=rows | {f"decisions of the period without {name}": n for name, n in unknown.items() if n},
        reasons=reasons,
        differences=tuple(_differences(previous, report)) if previous and report else (),
        warnings=tuple(_warnings(related, report)) if report else (),
        factors={
            f"{own.attribute}, {own.set}" if own.set else own.attribute: own.factor
            for own in regions.protection.own_ceilings
        },
    )


def render(dossier: Dossier, folder: Path) -> None:
    """Write ``dossier.html`` and ``dossier.json``; the same dossier gives the same bytes."""
    known = {"dossier": dossier, "charts": charts(dossier.curves), "terms": YARDSTICKS}
    html = with_fonts(templates.render("dossier/dossier.html.jinja", **known))
    (folder / "dossier.html").write_text(html, encoding="utf-8")
    content = asdict(dossier)
    if not dossier.factors:
        del content["factors"]
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / "dossier.json").write_text(text + "\n", encoding="utf-8")


def _groups(regions: Regions, optimal: Floats, announcement: Announcement | None) -> Iterator[DossierGroup]:
    true, prior = maximum_confidence(regions.groups, regions.decision), privacy_limit(regions.groups)
    beta = dict(zip(regions.announced.tolist(), optimal.tolist(), strict=False))  # of none where nothing was solved
    worst = max(beta.values(), default=math.nan)
    place = {int(g): i for i, g in enumerate(announcement.groups)} if announcement else {}
    held = announcement.held_confidences() if announcement else []
    plain = announcement.confidences() if announcement else []
    above = announcement.flattened.tolist() if announcement else []
    surest = max((s for s, out in zip(plain, above, strict=True) if not out), default=None)
    true_leakage = dict(zip(regions.announced.tolist(), yardsticks(regions, regions.announced, None), strict=True))
    leaked = yardsticks(regions, announcement.groups, announcement) if announcement else []
    for g in range(len(regions)):
        members = range(regions.offsets[g], regions.offsets[g + 1])
        mine = place.get(g)
        chances: list[float | None] = [None] * len(members)
        if announcement is not None and mine is not None:
            at = slice(int(announcement.offsets[mine]), int(announcement.offsets[mine + 1]))
            chances = [int(x) / 10**announcement.digits for x in announcement.chance[at, 0]]
        people = regions.population[members.start : members.stop]
        yield DossierGroup(
            values=regions.group_values[g],
            status=_STANDINGS[DisclosureStatus(regions.status[g])],
            merged=regions.merged.get(regions.group_values[g], 0),
            population=int(people.sum()),
            prior=float(prior[g]),
            true_confidence=float(true[g]),
            beta=beta.get(g),
            announced_confidence=float(held[mine]) if mine is not None else None,
            true_leakage=true_leakage.get(g),
            announced_leakage=leaked[mine] if mine is not None else None,
            binds=g in beta and beta[g] >= worst - 1e-12,
            stated=mine is not None and not above[mine] and plain[mine] == surest,
            cells=tuple(_cell(regions, region, announced) for region, announced in zip(members, chances, strict=True)),
        )


def _cell(regions: Regions, region: int, announced: float | None) -> Cell:
    population, positives = int(regions.population[region]), int(regions.counts[region, 0])
    true = positives / population
    return Cell(
        values=regions.region_values[region],
        population=population,
        positives=positives,
        true=true,
        announced=announced,
        change=None if announced is None else announced - true,
    )


def _true_cells(regions: Regions, announcement: Announcement) -> Cells[TrueMapping]:
    shown = regions.take(announcement.groups)
    population, decision, offsets = shown.population, shown.decision, shown.offsets
    return Cells(
        people=population,
        chance=TrueMapping(decision),
        digits=announcement.digits,
        lower=decision,
        upper=decision,
        offsets=offsets,
        exact=False,
        published=PublishedPopulation(announcement.published),
    )


def _measures(
    programme: Programme, regions: Regions, announcement: Announcement, report: model.PublicReport
) -> Iterator[TrueMeasure]:
    if not report.fairness:
        return
    cells = _true_cells(regions, announcement)
    found = fairness.compare(
        cells,
        public.columns(announcement, programme),
        compared=[
            fairness.GroupingSpec(by.attributes, by.reference) for by in report.compared if by.reference is not None
        ],
        legitimate=programme.names(legitimate=True),
        outcomes=announcement.outcomes,
        lines=programme.fairness,
    )
    true = {(c.measure, c.by.name, c.groups, frozenset(c.condition), c.outcome): c for c in found}
    of_class: dict[tuple[str, tuple[str, str]], list[fairness.Comparison]] = {}
    for c in found:
        if c.measure == "conditional_statistical_parity":
            of_class.setdefault((c.by.name, c.groups), []).append(c)
    for entry in report.fairness:
        if entry.measure == "individual_fairness":
            continue
        if entry.summary is not None:
            kept = fairness.counted(
                of_class[entry.attribute, entry.groups], minimum=programme.policy.minimum_group_size
            )
            value, _ = fairness.overall(
                entry.summary, [c.value for c in kept], [c.range for c in kept], [sum(c.people) for c in kept]
            )
        else:
            conditions = frozenset(entry.condition.items())
            value = true[entry.measure, entry.attribute, entry.groups, conditions, entry.outcome].value
        given = "".join(f", {name}: {v}" for name, v in entry.condition.items())
        outcome = f", “{entry.outcome}”" if entry.outcome else ""
        over = f", {entry.summary.replace('_', ' ')}" if entry.summary else ""
        yield TrueMeasure(
            name=f"{entry.measure.replace('_', ' ')}{outcome}{over}: {' against '.join(entry.groups)}{given}",
            true=None if math.isnan(value) else value,
            announced=entry.value,
            range=entry.range,
            verdict=entry.verdict,
        )
    for entry in report.fairness:
        if entry.pair is not None:
            least = entry.pair.least_people
            excess = individual.excess(report, cells, entry.pair.distance, least).value
            among = "" if least is None else f" of regions of {wording.count(least, 'person', 'people')} or more"
            yield TrueMeasure(
                name=f"{entry.measure.replace('_', ' ')}, {entry.pair.distance.replace('_', ' ')}: "
                f"largest excess{among}",
                true=excess if math.isfinite(excess) else None,
                announced=entry.value,
                range=entry.range,
                verdict=entry.verdict,
            )


def _checks(
    programme: Programme,
    regions: Regions,
    announcement: Announcement,
    report: model.PublicReport,
    measures: tuple[TrueMeasure, ...],
    rows: Mapping[str, int],
) -> Iterator[Check]:
    policy, unit = programme.policy, 10.0**-announcement.digits
    adds_up = rows["rows_read"] == sum(rows[k] for k in ("decisions", "duplicates", "corrections", "quarantined"))
    yield Check("every row read is accounted for", adds_up, wording.count(rows["rows_read"], "row"))
    if len(announcement.groups):
        shown = regions.take(announcement.groups)
        population, true, offsets = shown.population, shown.decision, shown.offsets
        chance = announcement.chance
        kept, moved = _promise_kept(announcement, true)
        name = "every announced chance keeps the promise"
        yield Check(name, kept, f"the largest change is {moved:.4f}")
        by_group = list(zip(announcement.flattened, announcement.confidences(), strict=True))
        held = zip(announcement.flattened, announcement.held_confidences(), strict=True)
        surest = max((confidence for above, confidence in held if not above), default=Fraction(0))
        yield Check(
            f"no group is above the ceiling, {_SURE_BY[announcement.known is not None]}",
            surest <= Fraction(str(policy.max_confidence)),
            f"the surest is {float(surest):.4f}, the ceiling {policy.max_confidence:g}",
        )
        if announcement.known is not None:
            by_printed = zip(announcement.flattened, announcement.printed_confidences(held=True), strict=True)
            surest = max((confidence for above, confidence in by_printed if not above), default=Fraction(0))
            yield Check(
                "no group is above the ceiling, for published populations",
                surest <= Fraction(str(policy.max_confidence)),
                f"the surest is {float(surest):.4f}, the ceiling {policy.max_confidence:g}",
            )
            yield Check(
                "the side information covers every announced region",
                bool((announcement.known > 0).all()),
                _differs(announcement, offsets),
            )
        if announcement.flattened.any():
            priors = announcement.prior_confidences()
            same = all(own == prior for (flat, own), prior in zip(by_group, priors, strict=True) if flat)
            detail = wording.count(int(announcement.flattened.sum()), "group")
            yield Check("flattened groups tell no more than is known without the report", same, detail)
        if policy.group_rates == "exact":
            last_digit = 10.0**-announcement.group_digits
            rounding = np.add.reduceat(population, offsets[:-1]) * last_digit / (2 if chance.shape[1] == 2 else 1)
            error = np.abs(np.add.reduceat(population[:, None] * (chance * unit - true), offsets[:-1]))
            yield Check(
                "every group keeps its number of people with each outcome, up to rounding",
                bool((error <= rounding[:, None] + 1e-6).all()),
                f"the largest difference is {float(error.max()):.2f} people",
            )
    # A mean of printed figures may be off by half a digit more than these.
    outside = [m.name for m in measures if not _inside(m, unit * (1.5 if "mean over classes" in m.name else 1))]
    yield Check(
        "every true measure lies in its printed range",
        not outside,
        "; ".join(outside[:5]) or wording.count(len(measures), "measure"),
    )
    found = check(report)
    yield Check(
        "the report bears out its own statements", not found, "; ".join(str(f) for f in found[:5]) or "verified"
    )


_SURE_BY = {False: "for exact and for published populations", True: "by the side information"}


def _differs(announcement: Announcement, offsets: Ints) -> str:
    """How far the side information lies from the log."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    known, own = (
        people / np.repeat(np.add.reduceat(people, starts), sizes)
        for people in (announcement.assumed, announcement.population)
    )
    return f"shares within a group differ from those of the log by up to {100 * np.abs(known - own).max():.1f} points"


def _promise_kept(announcement: Announcement, true: Floats) -> tuple[bool, float]:
    """Whether every chance outside flattened groups is as promised, and the largest change there."""
    promised, digits = ~announcement.flat, announcement.digits
    chance, true = announcement.chance[promised], true[promised]
    moved = float(np.abs(chance * 10.0**-digits - true).max(initial=0.0))
    low, high = announcement.fidelity.allowed_on_grid(true, digits=digits)
    return bool(((low <= chance) & (chance <= high)).all()), moved


def _warnings(related: Related, report: model.PublicReport) -> Iterator[str]:
    if related.overlapping:
        yield (
            f"There are reports of periods that share days with {report.period.label}: "
            f"{wording.listed(related.overlapping)}. Whoever has both can subtract one from the other, and so learn of "
            "groups that a report withholds. Publish one or the other."
        )
    if related.published:
        versions = wording.listed([str(version) for version in related.published])
        yield (
            f"Version {versions} of this period is published. Whoever compares it with this one sees what changed; "
            "where only a few decisions did, that can tell whose."
        )


def _inside(measure: TrueMeasure, unit: float) -> bool:
    """A range of no width is true to its last digit; where there is no true ratio, nothing can be said of it."""
    if measure.true is None:
        return True
    low, high = measure.range
    slack = unit if low == high else 1e-9
    return (low or 0.0) - slack <= measure.true <= (math.inf if high is None else high) + slack


def _promised(report: model.PublicReport) -> str:
    kind, level = report.fidelity.kind, report.fidelity.level
    return "the declared ranges" if level is None else f"{kind} {level:g}"


def _differences(previous: model.PublicReport, report: model.PublicReport) -> Iterator[Difference]:
    figures: tuple[tuple[str, Callable[[model.PublicReport], str]], ...] = (
        ("decisions", lambda r: f"{r.coverage.decisions:,}"),
        ("share of people announced", lambda r: f"{r.coverage.announced_share:.0%}"),
        ("groups announced", lambda r: str(r.coverage.groups.announced)),
        ("stated confidence", lambda r: str(r.privacy.max_confidence)),
        ("promise", _promised),
        (f"share of “{report.positive}”", lambda r: str((r.coverage.rate or {}).get(report.positive))),
    )
    for name, figure in figures:
        yield Difference(name, figure(previous), figure(report))
    verdicts = (
        ("lines met", "met"),
        ("lines not met", "not_met"),
        ("lines that cannot be told", "cannot_tell"),
    )
    for name, verdict in verdicts:
        yield Difference(name, *(str(sum(e.verdict == verdict for e in r.fairness)) for r in (previous, report)))
