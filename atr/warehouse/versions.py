"""Versions of one period: which corrections are too few to be told, and what versions before told of the others.

Whoever has two versions sees what changed. So a later one takes up the changes of a group only where they are of so
many people, and so mixed, that they could be a group of their own; until then it counts the group as it was announced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, get_args

import numpy as np

from atr.core.announced import OF_GROUPS, Announced
from atr.core.arrays import FloatArray, IntArray, Values
from atr.core.display_text import ANY
from atr.core.policy import Policy
from atr.core.regions import Regions, ToldBefore
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.warehouse import coarsening
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import regions_of_rows
from atr.warehouse.entries import complete, log_of
from atr.warehouse.kept_releases import Kept, Reason, Wait, kept_groups, kept_path, named_promise
from atr.warehouse.ledger import Ledger
from atr.warehouse.raw_values import RawSet, RawValues, counterparts, meet
from atr.warehouse.register import Register, earlier_limits

FEWEST_CHANGED = 10
"""Changes of fewer people in a group wait for others; of more where groups are large."""
OF_MINIMUM = 5
"""The least changed people are this part of the smallest group that is announced."""

Remember = Callable[[Regions], Regions]
"""Adds to decision regions what was told of them before: :attr:`Regions.earlier` and :attr:`Regions.versions`."""


def about(warehouse: Warehouse, programme: Programme, period: str, outcomes: tuple[str, ...]) -> tuple[Kept, Remember]:
    """Say what a new version of the report of a period is made of, and against what.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme, period
        What the report is about.
    outcomes
        As they are counted.

    Returns
    -------
    What is known beforehand, and how to find what was told of decision regions before.
    """
    raw = RawValues.of(warehouse, programme)
    log = log_of(warehouse, programme, raw, outcomes)
    with Register.held(programme) as register:
        complete(register, warehouse, programme)
    before = [release.id for release in Ledger(warehouse).releases(period) if release.state == "published"]
    seen = register.told(log) if remembers(programme) else None
    kept = Kept(
        raw=raw,
        log=log,
        terms=f"{programme.policy!r} {programme.protection!r}",
        seen=None if seen is None else tuple(entry.id for entry in seen),
        before=before[-1] if before else "",
    )
    return kept, memory(kept, programme)


def memory(kept: Kept, programme: Programme) -> Remember:
    """Give what finds what was told of decision regions before, of a release that is made with the same."""
    seen = [entry for entry in Register(programme).told(kept.log) if entry.id in (kept.seen or ())]
    versions = [*_versions_before(kept, programme)]

    def remember(regions: Regions) -> Regions:
        if kept.seen is None:
            return regions
        limits = earlier_limits(regions, seen, log=kept.log, raw=kept.raw)
        told = _told_before(regions, versions)
        return replace(regions, earlier=limits if len(limits) else None, versions=told)

    return remember


def remembers(programme: Programme) -> bool:
    """Tell whether what is announced depends on limits that earlier reports told."""
    return mechanism_of(programme.policy).terms(programme.policy).step is not None


def settled(counted: Regions, kept: Kept, programme: Programme, remember: Remember) -> tuple[Regions, Kept]:
    """Decide who is reported, and count groups as they were announced where too few people changed.

    So are groups of which a new version would tell too much beside those before, whatever it told. All is decided by
    what readers know: numbers of people, totals, and what was told.

    Parameters
    ----------
    counted
        The regions of the period, as the log has them now.
    kept
        What is known of the new version.
    programme
        Its policy, and the order of values.
    remember
        Finds what was told before.

    Returns
    -------
    The regions of which the new version speaks, with the status of every group, and what is kept of it.

    Raises
    ------
    ProgrammeError
        As :func:`atr.warehouse.coarsening.reported` does.
    """
    versions = [*_versions_before(kept, programme)]
    if not versions:
        regions = remember(coarsening.reported(counted, programme))
        return regions, kept.model_copy(update={"counted": _rows(counted)}).with_joined(regions)
    k, none, before = len(counted.public), np.zeros(len(counted.outcomes), dtype=np.int64), versions[0]
    now = dict(zip(counted.values, counted.counts, strict=True))
    told = [{values: np.array(counts, dtype=np.int64) for values, counts in of.counted} for of in versions]
    unit_of, units = dict(before.joined), defaultdict(list)
    for values in dict.fromkeys(chain(now, *told)):
        units[unit_of.get(values[:k], values[:k])].append(values)
    changes = {unit: [_changed(members, now, then, none, k) for then in told] for unit, members in units.items()}
    waiting = {unit: why for unit, of in changes.items() if (why := _why_it_waits(of, programme))}
    known = {group.values for of in versions for group in of.groups}
    shrunk = {unit for unit in known & units.keys() if any(n.sum() < 0 for of in changes[unit] for n in of.values())}
    while True:
        sides = [(values, told[0] if unit in waiting else now) for unit, members in units.items() for values in members]
        rows = {values: counts for values, of in sides if (counts := of.get(values, none)).any()}
        counts = np.array([*rows.values()], dtype=np.int64)
        again = regions_of_rows([*rows], counts, programme=programme, outcomes=counted.outcomes)
        regions = remember(coarsening.reported(again, programme, dict(before.joined)))
        more, too_much = set[Values](), _told_too_much(regions, programme)
        for values in regions.group_values:
            of = {unit_of.get(part, part) for part in regions.joined.get(values, (values,))} & units.keys()
            if values in too_much or (len(of) > 1 and of & shrunk):  # whoever left could be told from who joined
                more |= of
        if more <= waiting.keys():
            break
        for unit in more:
            waiting.setdefault(unit, "telling")
    waits = []
    for unit, members in units.items():
        if unit in waiting and any(difference.any() for difference in changes[unit][0].values()):
            then, people = (int(sum(of.get(values, none).sum() for values in members)) for of in (told[0], now))
            waits.append(Wait(values=unit, before=then, now=people, why=waiting[unit]))
    as_of = _as_of(regions, kept.before, versions)
    kept = kept.model_copy(update={"counted": _rows(again), "waits": tuple(waits), "as_of": as_of})
    return regions, kept.with_joined(regions)


def _as_of(regions: Regions, last: str, versions: Iterable[Kept]) -> tuple[tuple[Values, int], ...]:
    """The version that counted the people of a group first, for each that is as in the version before.

    A group that waits is as it was, like one that did not change: which of the two it is cannot be told from this.
    """
    same = {}
    for g, values in enumerate(regions.group_values):
        members = slice(regions.offsets[g], regions.offsets[g + 1])
        counts = map(tuple, regions.counts[members].tolist())
        same[values] = dict(zip(regions.region_values[members], counts, strict=True))
    found: dict[Values, int] = {}
    for before in versions:
        then = _people_counted(before, len(regions.public)) | {group.values: group.people for group in before.groups}
        same = {values: people for values, people in same.items() if people == then.get(values)}
        found |= dict.fromkeys(same, int(last.rpartition("-v")[2]))
        last = before.before
    return tuple(found.items())


def _people_counted(before: Kept, public: int) -> dict[Values, dict[Values, tuple[int, ...]]]:
    """People with each outcome by the sensitive values of their region, of every group that a version counted."""
    joined, found = dict(before.joined), defaultdict[Values, dict[Values, tuple[int, ...]]](dict)
    for values, counts in before.counted:
        of = found[joined.get(values[:public], values[:public])]
        of[values[public:]] = tuple(map(sum, zip(counts, of.get(values[public:], (0,) * len(counts)), strict=True)))
    return found


def _changed(
    members: Iterable[Values],
    now: Mapping[Values, IntArray],
    then: Mapping[Values, IntArray],
    none: IntArray,
    public: int,
) -> dict[Values, IntArray]:
    """By sensitive values, how many more people there are now with each outcome."""
    changed: dict[Values, IntArray] = defaultdict(none.copy)
    for values in members:
        changed[values[public:]] = changed[values[public:]] + now.get(values, none) - then.get(values, none)
    return changed


def _told_too_much(regions: Regions, programme: Programme) -> set[Values]:
    """Find groups of which nothing new may be told beside what versions before told, whatever it is."""
    mechanism, told = mechanism_of(programme.policy), regions.versions
    if told is None:
        return set()
    of_groups = told.limits[:, regions.offsets[:-1], 0, 0]
    changed = np.asarray((~np.isnan(of_groups)).any(axis=0))
    groups = regions.announced[changed[regions.announced]].tolist()
    anew = (mechanism.may_be_told_anew(regions.take(np.array([g])), programme.policy) for g in groups)
    return {regions.group_values[g] for g, may_be in zip(groups, anew, strict=True) if not may_be}


def _rows(regions: Regions) -> tuple[tuple[Values, tuple[int, ...]], ...]:
    return tuple(zip(regions.values, map(tuple, regions.counts.tolist()), strict=True))


def _versions_before(kept: Kept, programme: Programme) -> Iterator[Kept]:
    """The versions that a release follows, the newest first, up to one that divides people otherwise."""
    while (before := _before(kept, programme)) is not None:
        yield before
        kept = kept.model_copy(update={"before": before.before})


def _before(kept: Kept, programme: Programme) -> Kept | None:
    """What is kept of the version before, in the names and the order of now; None where it divides people otherwise."""
    before, log = Kept.read(kept_path(programme, kept.before)), kept.log
    if before is None or not before.log.agrees_with(log):
        return None
    old, names = before.log, {}
    for attribute, values in before.raw.attributes.items():
        names[attribute] = {ANY: ANY} | _names_now(values, kept.raw.attributes[attribute])

    def renamed(values: Values, before: tuple[str, ...], after: tuple[str, ...]) -> Values:
        return tuple(names[name][values[before.index(name)]] for name in after)

    def reordered(by_outcome: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(row[old.outcomes.index(raws)] for raws in log.outcomes) for row in by_outcome)

    public, every = (old.public, log.public), ((*old.public, *old.sensitive), (*log.public, *log.sensitive))
    try:
        return before.model_copy(
            update={
                "counted": tuple((renamed(values, *every), *reordered((counts,))) for values, counts in before.counted),
                "joined": tuple((renamed(part, *public), renamed(whole, *public)) for part, whole in before.joined),
                "groups": tuple(
                    group.model_copy(
                        update={
                            "values": renamed(group.values, *public),
                            "regions": tuple(renamed(of, old.sensitive, log.sensitive) for of in group.regions),
                            "counts": reordered(group.counts),
                            "chance": reordered(group.chance),
                            "limits": None if group.limits is None else reordered(group.limits),
                        }
                    )
                    for group in before.groups
                ),
            }
        )
    except KeyError:  # people who shared a value do not now
        return None


def _names_now(values: Mapping[str, RawSet], names: Mapping[str, RawSet]) -> dict[str, str]:
    """What those who had each value are called now; without those who are not called one thing that is theirs alone."""
    name_of, pairs = {raws: name for name, raws in names.items()}, counterparts(values.values(), names.values())
    found = {value: name_of[pairs[raws]] for value, raws in values.items() if raws in pairs}
    nobody = {value: value for value, raws in values.items() if not any(meet(raws, others) for others in name_of)}
    return nobody | found


def _told_before(regions: Regions, versions: Iterable[Kept]) -> ToldBefore | None:
    """Give what versions told of groups that have changed, by numbers of people and totals: private as these are."""
    parts_of = [regions.joined.get(values, (values,)) for values in regions.group_values]
    group_of = {part: g for g, parts in enumerate(parts_of) for part in parts}
    found = [_told_of(before, regions, group_of) for before in versions]
    return ToldBefore(*map(np.array, zip(*found, strict=True))) if found else None


def _told_of(before: Kept, regions: Regions, group_of: Mapping[Values, int]) -> ToldBefore:
    """Give what one version told, without the first axis."""
    told = ToldBefore(
        limits=np.full((*regions.counts.shape, 2), np.nan),
        people=np.zeros(len(regions.counts), dtype=np.int64),
        totals=np.zeros_like(regions.counts),
        lost=np.zeros(len(regions.counts), dtype=np.bool_),
    )
    parts_then = defaultdict(list)
    for part, whole in before.joined:
        parts_then[whole].append(part)
    told_already = set()
    for then in before.groups:
        now = {group_of[part] for part in parts_then.get(then.values, [then.values]) if part in group_of}
        for g in now:
            members = slice(regions.offsets[g], regions.offsets[g + 1])
            counts, totals = then.people, np.sum(then.counts, axis=0)
            people = np.array([sum(counts.get(values, ())) for values in regions.region_values[members]])
            same = np.array_equal(people, regions.population[members]) and people.sum() == totals.sum()
            if same and np.array_equal(regions.counts[members].sum(axis=0), totals) and len(now) == 1:
                continue
            ends = dict(zip(then.regions, then.limits, strict=True)) if then.limits else {}
            told.limits[members] = [ends.get(of, [(0.0, 1.0)] * len(totals)) for of in regions.region_values[members]]
            told.people[members], told.totals[members] = people, totals
            told.lost[members] = people.sum() < totals.sum() or len(now) > 1 or g in told_already
            told_already.add(g)
    return told


def _why_it_waits(changes: Iterable[dict[Values, IntArray]], programme: Programme) -> Reason | None:
    """Why a group waits, by its changes since every version; None where they can be told."""
    found = {_why(changed, programme) for changed in changes}
    return next((reason for reason in get_args(Reason) if reason in found), None)


def too_few(difference: IntArray, policy: Policy) -> bool:
    """Tell whether changes of (regions, outcomes) people in a group, not all 0, are of fewer than are told of."""
    people, totals = difference.sum(axis=1), difference.sum(axis=0)
    came, went = people.clip(min=0).sum(), (-people).clip(min=0).sum()
    corrected = (totals - came).clip(min=0).sum()
    return bool(max(came, went) + corrected < max(FEWEST_CHANGED, -(-policy.minimum_group_size // OF_MINIMUM)))


def _why(changed: dict[Values, IntArray], programme: Programme) -> Reason | None:
    """Why the changes of a group's regions, (outcomes,) people each, are not told: too few, or too much alike.

    As few people are taken to have changed as numbers of people and totals show, whoever it was.
    """
    regions, difference, policy = [*changed], np.array([*changed.values()]), programme.policy
    if not difference.any():
        return None
    if too_few(difference, policy):
        return "few"
    people, totals = difference.sum(axis=1), difference.sum(axis=0)
    came, went = people.clip(min=0), (-people).clip(min=0)
    telling = not all(
        mechanism_of(policy).announceable(
            some[some > 0],
            [values for values, n in zip(regions, some, strict=True) if n],
            programme.protection,
            len(totals),
            policy,
        )
        for some in (came, went)
        if some.any()
    )
    return "telling" if telling else None


def reprinted(announced: Announced, regions: Regions, kept: Kept, programme: Programme) -> Announced:
    """Announce groups of unchanged people as the version before did.

    Parameters
    ----------
    announced
        What the mechanism chose anew.
    regions
        All groups that are to be announced.
    kept
        What is known of the new version.
    programme
        The series.
    """
    before, promise = _before(kept, programme), announced.promise
    if before is None or (before.terms, before.promise) != (kept.terms, named_promise(promise)):
        return announced
    if before.log.outcomes != kept.log.outcomes:  # limits count from the other end
        return announced
    old = {group.values: group for group in before.groups}
    chance, limits = announced.chance.copy(), None if promise.limits is None else promise.limits.copy()
    of_groups = {name: getattr(announced, name).copy() for name in OF_GROUPS}
    readers: dict[str, FloatArray] = {}
    for g, now in enumerate(kept_groups(announced, regions)):
        group = old.get(now.values, now)
        if group.people != now.people:
            group = now
        members = regions.offsets[g] + np.array([now.regions.index(values) for values in group.regions])
        chance[members] = group.chance
        if limits is not None:
            limits[members] = group.limits
        for name, values in of_groups.items():
            values[g] = getattr(group, name)
        for name, sure in group.readers.items():
            readers.setdefault(name, np.zeros(len(regions)))[g] = sure
    again = mechanism_of(programme.policy).promise(promise.kind, promise.level, limits) or promise
    return replace(announced, chance=chance, promise=again, readers=readers, **of_groups)
