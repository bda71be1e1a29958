"""What a reader of a report knows of the rules: the announced mapping, and the true ones that it leaves possible."""

from __future__ import annotations

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import AnnouncedMapping, ExactPopulation, PublishedPopulation, offsets_of
from atr.core.fidelity import Fidelity
from atr.core.protected import Protection
from atr.measures.cells import Cells
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
    published = PublishedPopulation(np.array([region.population for _, region in regions], dtype=np.int64))
    outcomes = (report.positive, *(o for o in report.outcomes if o != report.positive))
    sensitive = [a.name for a in report.attributes if a.role == "sensitive"]
    assumed = report.policy.side_information != OWN_POPULATION
    unit = 10**report.policy.digits
    return Announcement(
        outcomes=outcomes,
        groups=np.arange(len(groups)),
        group_values=tuple(tuple(group.public.values()) for group in groups),
        region_values=tuple(tuple(region.sensitive[name] for name in sensitive) for _, region in regions),
        offsets=offsets_of(np.array([len(group.regions) for group in groups], dtype=np.int64)),
        people=published if population is None else population,
        published=published,
        chance=np.array(
            [[round(region.announced[o] * unit) for o in outcomes] for _, region in regions], dtype=np.int64
        ),
        digits=report.policy.digits,
        fidelity=promised(report),
        flattened=np.array([group.status == "flattened" for group in groups], dtype=bool),
        coarsened=np.array([group.status == "coarsened" for group in groups], dtype=bool),
        protection=protection(report),
        known=np.array([region.known for _, region in regions], dtype=np.int64) if assumed else None,
    )


def columns(report: model.PublicReport) -> dict[str, tuple[str, ...]]:
    """The value of each announced region, (n,) for each attribute."""
    return {a.name: tuple(values[a.name] for values, _ in report.announced_regions) for a in report.attributes}


def cells(announcement: Announcement, *, group_rates: str) -> Cells[AnnouncedMapping]:
    """The announced mapping with the smallest and largest true chances that a reader cannot rule out.

    Nothing is known of the true chances of a flattened group. Where group rates are exact, its rate is known to the
    digits that it is printed with.

    Parameters
    ----------
    announcement
        The announced mapping.
    group_rates
        "exact" if the mechanism leaves the rate of every group as it is.

    Returns
    -------
    (n,) people, and (n, outcomes) probabilities: announced, smallest true, largest true.
    """
    chance = announcement.chance / 10**announcement.digits
    kept = ~announcement.flat
    lower, upper = np.zeros_like(chance), np.ones_like(chance)
    lower[kept], upper[kept] = announcement.fidelity.believed(chance[kept], digits=announcement.digits)
    return Cells(
        people=announcement.people,
        chance=AnnouncedMapping(chance),
        digits=announcement.group_digits,
        lower=lower,
        upper=upper,
        offsets=announcement.offsets,
        exact=group_rates == "exact",
        published=announcement.published,
        flattened=announcement.flattened,
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
    limits = [region.allowed for _, region in report.announced_regions if region.allowed]
    fidelity = MECHANISMS[report.policy.mechanism].promise(report.fidelity.kind, report.fidelity.level, limits)
    if fidelity is None:
        raise ValueError("the report is not well-formed")
    return fidelity
