"""The public report from the announced mapping, the populations and the policy; nothing else comes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import AnnouncedMapping, FloatArray, Values, segment_of
from atr.core.disclosure import Extent
from atr.core.display_text import ANY, UNKNOWN
from atr.core.policy import Policy
from atr.core.publication import CHANCE_DIGITS, RATE_DIGITS, printed_rates, rounded_total
from atr.ingest import Accounting
from atr.measures import group_fairness as fairness
from atr.measures.cells import Cells
from atr.measures.rates import announced_rate, rates_by_group
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.programme.periods import Period
from atr.programme.words import in_languages
from atr.report import changes, derived, individual, model, sampling, series
from atr.report.compared import compared, compared_by, rows_of
from atr.report.comparisons import ComparisonFormatter
from atr.report.privacy import group_id, leakages, privacy
from atr.report.reader_view import cells
from atr.report.rounding import nearest, rounded_share, share_step
from atr.version import __version__


def build(
    announcement: Announcement,
    comparisons: list[fairness.Comparison],
    *,
    programme: Programme,
    period: Period,
    extent: Extent,
    quality: Accounting,
    as_of: Mapping[Values, int] | None = None,
    published: model.PublicReport | None = None,
    version: int,
    date: str,
    previous: tuple[model.PublicReport, str] | None = None,
    earlier: Sequence[tuple[model.PublicReport, str]] = (),
    beside: Sequence[model.Beside] = (),
) -> model.PublicReport:
    """Build the public report, with every number in it rounded.

    Parameters
    ----------
    announcement
        The announced mapping, (n, outcomes) in units of the last printed digit.
    comparisons
        Its fairness, from :func:`measure`.
    programme, period
        What the report is about.
    extent, quality
        How much is announced, and of what log.
    as_of
        Where changes wait: the version whose numbers each group has, if it is an earlier one.
    published
        The release published last, of any period.
    version, date
        Of the draft; the version counts from 1, the date is an ISO date.
    previous
        The last published report of an earlier period, if there is one, and the hash of its ``report.json``.
    earlier
        The published reports of earlier periods likewise, in order.
    beside
        The published records of the same people.

    Returns
    -------
    The report, complete.
    """
    policy = programme.policy
    leakage, of_groups = leakages(announcement)
    terms = mechanism_of(policy).terms(policy)
    known, promised = cells(announcement), announcement.fidelity
    dated = None if as_of is None else [as_of.get(values, version) for values in announcement.group_values]
    report = model.PublicReport(
        programme=programme_info(programme),
        period=period_info(period, programme),
        version=version,
        date=date,
        policy=model.PolicyInfo(
            **terms._asdict(),
            side_information=policy.assumed,
            **policy.model_dump(include=set(Policy.model_fields) - {"side_information"}),
            four_fifths=programme.fairness.four_fifths,
            four_fifths_origin=programme.fairness.four_fifths_origin,
            parity_tolerance=programme.fairness.parity_tolerance,
            parity_tolerance_origin=programme.fairness.parity_tolerance_origin,
            individual=individual.individual_policy(programme),
            sampling=sampling.sampling_info(programme.log.coverage, programme.fairness.alpha),
            influence_sets=programme.influence.sets,
        ),
        outcomes=announcement.outcomes,
        positive=programme.log.positive,
        attributes=tuple(_attributes(announcement, programme, extent)),
        privacy=privacy(announcement, leakage),
        fidelity=model.FidelityInfo(
            kind=promised.kind,
            level=promised.level,
            step=terms.step,
            largest_change=promised.largest_change(policy.digits),
        ),
        coverage=_coverage(announcement, known, programme, extent),
        groups=tuple(_groups(announcement, known, of_groups, programme, extent, dated)),
        compared=tuple(compared(comparisons, announcement, programme)),
        fairness=tuple(ComparisonFormatter(policy).entries(comparisons)),
        data_quality=_quality(announcement, quality, programme, as_of is not None, published),
        beside=tuple(dict.fromkeys(beside)),
        notes=(),
        provenance=model.Provenance(atr=__version__),
    )
    report = derived.complete(report)
    report = report.model_copy(update={"series": series.series(report, earlier)})
    if previous is None:
        return report
    return report.model_copy(update={"changes": changes.since(report, previous[0], sha256=previous[1])})


def programme_info(programme: Programme) -> model.ProgrammeInfo:
    """The part of a report that describes its series."""
    nouns = programme.model_dump(include={"decision_noun", "person_noun"})
    words = nouns | programme.log.model_dump(include={"outcome_phrases"})
    return model.ProgrammeInfo(
        name=programme.programme,
        title=programme.title,
        language=programme.language,
        publisher=model.Publisher(**programme.publisher.model_dump()),
        system=model.System(**programme.system.model_dump()),
        place=programme.place,
        **{key: in_languages(given, programme.language) for key, given in words.items()},
    )


def period_info(period: Period, programme: Programme) -> model.PeriodInfo:
    """The part of a report that tells its period."""
    return model.PeriodInfo(
        label=period.label,
        start=period.start.isoformat() if period.start else None,
        end=period.end.isoformat() if period.end else None,
        timezone=programme.period.timezone,
    )


def measure(announcement: Announcement, programme: Programme) -> list[fairness.Comparison]:
    """Compare the groups of the announced mapping.

    Parameters
    ----------
    announcement
        The announced mapping.
    programme
        States who is compared, with whom, and the lines of verdicts.

    Returns
    -------
    One comparison for each measure and pair of groups, not rounded: ratios, or differences as shares.
    """
    return fairness.compare(
        cells(announcement),
        columns(announcement, programme),
        compared=compared_by(programme),
        legitimate=programme.names(legitimate=True),
        outcomes=announcement.outcomes,
        lines=programme.fairness,
        minimum=programme.policy.minimum_group_size,
        rows=rows_of(announcement, programme),
    )


def columns(announcement: Announcement, programme: Programme) -> dict[str, tuple[str, ...]]:
    """The display values of the announced regions.

    Returns
    -------
    For every attribute, (n,) one value for each region.
    """
    of_groups = segment_of(announcement.offsets).tolist()
    regions = [(*announcement.group_values[g], *announcement.region_values[i]) for i, g in enumerate(of_groups)]
    names = (*programme.names(role="public"), *programme.names(role="sensitive"))
    return {name: tuple(values[i] for values in regions) for i, name in enumerate(names)}


def _coverage(
    announcement: Announcement, known: Cells[AnnouncedMapping], programme: Programme, extent: Extent
) -> model.Coverage:
    everyone = np.ones(len(known.people), dtype=bool)
    found = [announced_rate(known.event(a), everyone) for a in range(known.outcomes)] if len(everyone) else []
    exact = extent.announced == extent.decisions and programme.policy.population_rounding == 1
    decisions = extent.decisions if exact else _total(extent.decisions, programme)
    step = share_step(decisions=decisions, minimum=programme.policy.minimum_group_size)
    return model.Coverage(
        decisions=decisions,
        announced_share=rounded_share(extent.announced / extent.decisions, step=step),
        groups=model.GroupCounts(
            announced=len(announcement.groups),
            withheld_for_size=extent.too_small,
            withheld=len(extent.prior_too_sure),
            coarsened=int(announcement.coarsened.sum()),
            merged=extent.merged,
        ),
        rate=_rates(found, announcement.outcomes) if found else None,
    )


def _total(people: int, programme: Programme) -> int:
    """A total that may contain withheld people, too coarse to take the announced ones from it."""
    step = max(programme.policy.minimum_group_size, programme.policy.population_rounding)
    return int(rounded_total(np.array(people), rounding=step))


def _quality(
    announcement: Announcement,
    quality: Accounting,
    programme: Programme,
    corrections_wait: bool,
    published: model.PublicReport | None,
) -> model.DataQuality:
    """The account of the whole log, other periods and withheld people included; rows read are the printed sum."""
    rounding = programme.policy.population_rounding

    def few(people: int) -> int:
        return int(rounded_total(np.array(people), rounding=rounding))

    decisions = _total(quality.decisions, programme)
    others = {name: few(getattr(quality, name)) for name in ("duplicates", "corrections", "quarantined")}
    before = None
    if published is not None:
        then = published.data_quality.model_dump(include={"rows_read", "decisions", *others})
        before = model.RowsBefore(period=published.period.label, version=published.version, **then)
    people = announcement.published
    missing = {
        name: int(people[[value == UNKNOWN for value in values]].sum())
        for name, values in columns(announcement, programme).items()
    }
    return model.DataQuality(
        rows_read=decisions + sum(others.values()),
        decisions=decisions,
        **others,
        unknown={name: nearest(n / int(people.sum()), RATE_DIGITS) for name, n in missing.items() if n},
        corrections_wait=corrections_wait,
        before=before,
    )


def _attributes(announcement: Announcement, programme: Programme, extent: Extent) -> Iterator[model.AttributeInfo]:
    """The inputs, with declared values in their order, then the others that are announced.

    Of protected attributes values are named as well that meet in rest groups, or that nobody announced has.
    """
    shown = columns(announcement, programme)
    ceilings = {(own.attribute, own.set): own.max_confidence for own in announcement.protection.own_ceilings}
    for name, a in programme.attributes.items():
        announced, coarser = set(shown[name]), a.coarser if announcement.coarsened.any() else None
        if a.protected:
            announced |= {*extent.unseen.get(name, ()), *(v for of in announcement.mixed for v in of.get(name, ()))}
        values = (*a.categories, *a.in_order(announced - {*a.categories, ANY}))
        coarse = () if coarser is None else tuple(a.in_order({*shown[name]} & {*coarser.coarse}))
        yield model.AttributeInfo(
            name=name,
            title=programme.title_of(name),
            role=a.role,
            protected=a.protected,
            legitimate=a.legitimate,
            values=values,
            sets={of_set: named.values for of_set, named in a.named.items()},
            max_confidence=ceilings.get((name, None)),
            sets_max_confidence={s: ceilings[name, s] for s in a.named if (name, s) in ceilings},
            coarse=coarse,
            used_by_system=a.used_by_system,
            unit=a.unit or "",
            group_phrases=a.group_phrases(values),
        )


def _groups(
    announcement: Announcement,
    known: Cells[AnnouncedMapping],
    leakage: Sequence[model.GroupLeakage | None],
    programme: Programme,
    extent: Extent,
    dated: Sequence[int] | None,
) -> Iterator[model.Group]:
    public, protected = programme.names(role="public"), programme.names(protected=True)
    statuses = np.select(
        [announcement.flattened, announcement.rest, announcement.coarsened, announcement.ruled],
        ["flattened", "rest", "coarsened", "announced"],
        "rate_only",
    ).tolist()
    limits = np.full((*announcement.chance.shape, 2), [0.0, 1.0])
    if announcement.fidelity.limits is not None:
        limits[~announcement.flat] = announcement.fidelity.limits.round(CHANCE_DIGITS)
    rates = [rates_by_group(known.event(a)) for a in range(known.outcomes)] if announcement.group_values else []
    for g, values in enumerate(announcement.group_values):
        ruled, with_chances = bool(announcement.ruled[g]), not announcement.limits_only[g]
        members = range(announcement.offsets[g], announcement.offsets[g + 1]) if ruled else ()
        met = {name: of for name, of in announcement.mixed[g].items() if name in protected}
        yield model.Group(
            id=group_id(g),
            public=_told(public, values),
            status=statuses[g],
            mixed={name: tuple(programme.attributes[name].in_order(of)) for name, of in met.items()},
            joined=int(announcement.joined[g]) or None,
            digits=int(announcement.group_digits[g]) if ruled and with_chances else None,
            as_of=None if dated is None else dated[g],
            population=int(announcement.group_people[g]),
            rate=_rates([rate[g] for rate in rates], announcement.outcomes),
            leakage=leakage[g],
            regions=tuple(_region(announcement, i, limits[i], programme, with_chances) for i in members),
        )
    for place, values in enumerate(extent.prior_too_sure, start=len(announcement.group_values)):
        yield model.Group(id=group_id(place), public=_told(public, values), status="withheld")


def _region(
    announcement: Announcement, region: int, limits: FloatArray, programme: Programme, with_chances: bool
) -> model.Region:
    """A region with (outcomes, 2) limits of its chances, which are told unless they leave everything open."""
    people, outcomes = int(announcement.published[region]), announcement.outcomes
    chances = dict(zip(outcomes, announcement.mapping[region].tolist(), strict=True))
    told = {outcome: (low, high) for outcome, (low, high) in zip(outcomes, limits.tolist(), strict=True)}
    return model.Region(
        sensitive=dict(zip(programme.names(role="sensitive"), announcement.region_values[region], strict=True)),
        population=people if people >= announcement.rounding else model.Below(below=announcement.rounding),
        announced=chances if with_chances else None,
        limits=told if {*told.values()} != {(0, 1)} else None,
        known=None if announcement.known is None else int(announcement.known[region]),
    )


def _told(names: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in zip(names, values, strict=True) if value != ANY}


def _rates(rates: Sequence[float], outcomes: tuple[str, ...]) -> dict[str, float]:
    """(outcomes,) rates as they are printed, by outcome."""
    return dict(zip(outcomes, printed_rates(np.array(rates)).tolist(), strict=True))
