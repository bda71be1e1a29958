"""What a reader of a report knows of the rules: the announced mapping, and the true ones that it leaves possible."""

from __future__ import annotations

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import AnnouncedMapping, ExactPopulation, PublishedPopulation, offsets_of
from atr.core.comparison_rows import Rows, rows_by
from atr.core.display_text import ANY
from atr.core.fidelity import Fidelity
from atr.core.protected import Protection
from atr.core.publication import CHANCE_DIGITS, RATE_DIGITS
from atr.core.regions import DisclosureStatus
from atr.measures.cells import Cells, possible_totals, rates_of
from atr.mechanisms import MECHANISMS
from atr.programme import OWN_POPULATION
from atr.report import model


def announcement(report: model.PublicReport, population: ExactPopulation | None = None) -> Announcement:
    """Restore the announced mapping from a well-formed report that announces something.

    Parameters
    ----------
    report
        The report.
    population
        (n,) exact people of its regions, if they are known; otherwise the published numbers are used.

    Returns
    -------
    The mapping, (n, outcomes) in units of the last printed digit, positive first.
    """
    groups, regions = report.announced_groups, report.announced_regions
    published = PublishedPopulation(np.array([region.people for _, region, _ in regions], dtype=np.int64))
    outcomes = (report.positive, *(o for o in report.outcomes if o != report.positive))
    sensitive, public = ([a.name for a in report.attributes if a.role == role] for role in ("sensitive", "public"))
    assumed = report.policy.side_information != OWN_POPULATION
    told_apart = report.fidelity.kind == "limits"
    people = published if population is None else population
    offsets = offsets_of(np.array([len(group.told) for group in groups], dtype=np.int64))
    rates, chances = (
        np.array([[of[outcome] for outcome in outcomes] for of in told]).reshape(-1, len(outcomes))
        for told in ([group.rate or {} for group in groups], [chances for _, _, chances in regions])
    )
    chance = np.rint(chances * 10**CHANCE_DIGITS).astype(np.int64)
    digits = np.array([group.digits or RATE_DIGITS for group in groups], dtype=np.int64)
    limits_only = np.array([any(r.announced is None for r in group.regions) for group in groups], dtype=np.bool_)
    # Without limits the chances themselves tell the rate of their group, to more digits than it is printed with.
    implied = np.array([not told_apart and bool(group.regions) for group in groups], dtype=np.bool_)
    half = 0.5 * 10.0 ** -np.where(implied, digits, RATE_DIGITS) * np.where(implied & (len(outcomes) > 2), 2, 1)
    rates[implied] = rates_of(people, chances, offsets)[implied]
    totals = None
    if report.policy.group_rates == "exact":
        totals = possible_totals(np.add.reduceat(people, offsets[:-1]), rates, half)
    return Announcement(
        outcomes=outcomes,
        groups=np.arange(len(groups)),
        group_values=tuple(tuple(group.public.get(name, ANY) for name in public) for group in groups),
        region_values=tuple(tuple(values[name] for name in sensitive) for values, _, _ in regions),
        offsets=offsets,
        people=people,
        published=published,
        group_people=np.array([group.population for group in groups], dtype=np.int64),
        rounding=report.policy.population_rounding,
        chance=chance,
        digits=report.policy.digits,
        group_digits=digits,
        fidelity=promised(report),
        status=np.array([_status(group) for group in groups], dtype=np.int64),
        limits_only=limits_only,
        joined=np.array([group.joined or 0 for group in groups], dtype=np.int64),
        rest=np.array([group.status == "rest" for group in groups], dtype=np.bool_),
        mixed=tuple(group.mixed for group in groups),
        protection=protection(report),
        readers={},
        held=np.zeros(len(groups)),
        by_rates=np.zeros(len(groups)),
        prior=np.zeros(len(groups)),
        rules=np.full(len(groups), np.nan),
        totals=totals,
        half=half,
        known=np.array([region.known or 0 for _, region, _ in regions], dtype=np.int64) if assumed else None,
    )


def _status(group: model.Group) -> DisclosureStatus:
    if group.status == "flattened":
        return DisclosureStatus.FLATTENED
    return DisclosureStatus.ANNOUNCED if group.regions else DisclosureStatus.RATE_ONLY


def columns(report: model.PublicReport) -> dict[str, tuple[str, ...]]:
    """The value of each announced region, (n,) for each attribute."""
    return {a.name: tuple(values[a.name] for values, _, _ in report.announced_regions) for a in report.attributes}


def rows(report: model.PublicReport) -> dict[str, Rows]:
    """Who is in which row of the comparisons by each protected public attribute."""
    public = [a for a in report.attributes if a.role == "public"]
    orders = {a.name: a.values for a in public if a.protected}
    return rows_by(announcement(report), [a.name for a in public], orders)


def labels(report: model.PublicReport) -> dict[str, tuple[str, ...]]:
    """The row of each announced region, (n,) for each attribute: its value where values meet in no rest group."""
    groups = [g for g, group in enumerate(report.announced_groups) for _ in group.told]
    of_groups = {name: of.labels for name, of in rows(report).items()}
    return {
        name: tuple(of_groups[name][g] for g in groups) if name in of_groups else values
        for name, values in columns(report).items()
    }


def cells(announcement: Announcement) -> Cells[AnnouncedMapping]:
    """The announced mapping with the smallest and largest true chances that a reader cannot rule out.

    The true chances of a group that shows its rates only, one region here, are these up to their rounding.

    Parameters
    ----------
    announcement
        The announced mapping.

    Returns
    -------
    (n,) people, and (n, outcomes) probabilities: announced, smallest true, largest true.
    """
    chance, kept = announcement.mapping, ~announcement.flat
    off = 10.0**-RATE_DIGITS / (2 if chance.shape[1] == 2 else 1)
    lower, upper = np.maximum(chance - off, 0), np.minimum(chance + off, 1)
    lower[kept], upper[kept] = announcement.fidelity.believed(chance[kept], digits=announcement.digits)
    return Cells(
        people=announcement.people,
        chance=chance,
        lower=lower,
        upper=upper,
        offsets=announcement.offsets,
        published=announcement.published,
        totals=announcement.totals,
        half=announcement.half,
        rounding=announcement.rounding,
    )


def protection(report: model.PublicReport) -> Protection:
    """The protected sets of a well-formed report, and their ceilings."""
    return Protection.of(
        [a.name for a in report.attributes if a.role == "sensitive"],
        ((a.name, name, values) for a in report.attributes for name, values in a.sets.items()),
        (own for a in report.attributes for own in a.own_ceilings),
        max_confidence=report.policy.max_confidence,
        digits=report.policy.digits,
    )


def promised(report: model.PublicReport) -> Fidelity:
    """The fidelity that a well-formed report promises of its announced chances.

    Raises
    ------
    ValueError
        If the promise is not one that the report's mechanism makes.
    """
    outcomes = (report.positive, *(o for o in report.outcomes if o != report.positive))
    limits = None
    if report.fidelity.kind in ("limits", "ranges"):
        told = [region.limits or {} for group in report.announced_groups for region in group.regions]
        limits = np.array([[of.get(o, (0.0, 1.0)) for o in outcomes] for of in told]).reshape(-1, len(outcomes), 2)
        if report.fidelity.step is not None:  # printed to fewer digits than a step may have
            limits = np.rint(limits / report.fidelity.step) * report.fidelity.step
    fidelity = MECHANISMS[report.policy.mechanism].promise(report.fidelity.kind, report.fidelity.level, limits)
    if fidelity is None:
        raise ValueError("the report is not well-formed")
    return fidelity
