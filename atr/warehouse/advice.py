"""Why few people are announced: values that are too common; and what other choices of the programme would bring.

From numbers of people and the programme alone: what was decided about anybody is not even passed on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from atr.core.arrays import Values
from atr.core.protected import Label
from atr.core.regions import Regions
from atr.programme import Programme, variants
from atr.programme.periods import ALL, Every, containing, parse
from atr.warehouse import coarsening
from atr.warehouse.counting import regions_of_rows
from atr.warehouse.shares import Excess, Shares, excesses, labelled

MUCH = 0.1
"""A change is told that announces so many more of the people, as a share."""
AS_GOOD = 0.05
"""Of changes of one attribute, the least is told that announces at most so many less than the best one."""
MOST_TOLD = 3
MOST_TRIED = (20_000, 2_000_000)
"""Changes are tried on the last periods of so many QID groups, and people, together."""
HALF = 0.5

ByPeriod = Mapping[str, Regions]
"""By the label of each period, the last one last: its regions as counted, before groups are merged."""


class Change(NamedTuple):
    """What a change of the programme would bring.

    Attributes
    ----------
    what
        The change, such as "without office".
    now, then
        How people are told of, without and with it.
    cost
        What the report would lose, as the end of a sentence.
    """

    what: str
    now: Shares
    then: Shares
    cost: str = ""

    @property
    def gain(self) -> float:
        """How many more of the people are announced, as a share."""
        return self.then.announced_share - self.now.announced_share

    def __str__(self) -> str:
        """Say it in words."""
        return f"{self.what}: {self.then.percent()} announced instead of {self.now.percent()}{self.cost}"


def advise(periods: ByPeriod, shares: Mapping[str, Shares], programme: Programme) -> Iterator[str]:
    """Say which values are too common, and what changes of the programme would bring: the best three, then ceilings.

    Parameters
    ----------
    periods
        All of the log.
    shares
        How many people each would tell of.
    programme
        The series.

    Yields
    ------
    Sentences without a full stop.
    """
    yield from _too_common(periods, programme)
    last = _last(periods)
    now = Shares.total(shares[label] for label in last or periods)
    several = f"{len(last)} " if len(last) > 1 else ""
    tried = "" if len(last) == len(periods) else f", in the last {several}of {len(periods)} periods"
    told = _best([*_of_attributes(last, programme, now), *_of_periods(last, programme, now)])
    yield from (f"{change}{tried}" for change in told)
    if not told and now.announced_share < HALF:
        why = "leaving out attributes brings few more" if last else "there are too many groups or people to try changes"
        what = "take fewer attributes or values, longer periods or a smaller minimum_group_size"
        yield f"{now.percent()} of the people are announced, and {why}: {what}"
    for ceiling in variants.nearby_ceilings(programme) if last else ():
        then = _shares(last, variants.with_ceiling(programme, ceiling))
        if then != now and then.announced_share >= now.announced_share:
            change = Change(f"with max_confidence {ceiling:g}", now, then)
            yield f"{change}{tried}; decision regions: {then.regions:,} instead of {now.regions:,}"


def told_of(
    regions: Regions, counted: Sequence[tuple[Values, tuple[int, ...]]], label: str, programme: Programme
) -> tuple[Shares, str]:
    """Say how many people a period tells of; where fewer than half are announced, what would bring most.

    Parameters
    ----------
    regions
        With the status of every group.
    counted
        The outcomes of every region, before groups were merged.
    label
        Of the period.
    programme
        The series.

    Returns
    -------
    The shares; and a change that brings much, or else which value is too common, or nothing: a sentence without a full
    stop.
    """
    shares = Shares.of(regions)
    if shares.announced_share >= HALF:
        return shares, ""
    values, counts = zip(*counted, strict=True)
    before = regions_of_rows(values, np.array(counts), programme=programme, outcomes=regions.outcomes)
    alone = _last({label: before})
    changes = _best(_of_attributes(alone, programme, shares))
    of = "the log" if label == ALL.label else label
    common = (excess.told(programme, of) for excess in excesses(labelled(before), programme))
    return shares, next(chain(map(str, changes), common), "")


def _too_common(periods: ByPeriod, programme: Programme) -> Iterator[str]:
    """Name the values that are too common in the log, then those that are in some period, with the worst one."""
    of_periods = {label: labelled(regions) for label, regions in periods.items()}
    in_log = excesses(sum(of_periods.values(), start=Counter()), programme)
    yield from (excess.told(programme, "the log") for excess in in_log)
    found = defaultdict[Label, list[tuple[Excess, str]]](list)
    for label, people in of_periods.items():
        for excess in excesses(people, programme):
            found[excess.label].append((excess, label))
    known = {excess.label for excess in in_log}
    for of in [label for label in found if label not in known]:
        worst, period = max(found[of], key=lambda both: both[0].share)
        more = len(found[of]) - 1
        yield worst.told(programme, period) + (f", as in {more} more period{'s' * (more > 1)}" if more else "")


def _best(changes: Iterable[Change]) -> list[Change]:
    return sorted((change for change in changes if change.gain >= MUCH), key=lambda of: -of.gain)[:MOST_TOLD]


def _last(periods: ByPeriod) -> ByPeriod:
    """The last periods, so many as can be tried, if any, without decisions."""
    sizes = np.cumsum([(len(regions), regions.population.sum()) for regions in reversed([*periods.values()])], axis=0)
    first = len(periods) - int((sizes <= MOST_TRIED).all(axis=1).sum())
    return {label: _people_alone(regions) for label, regions in [*periods.items()][first:]}


def _people_alone(regions: Regions) -> Regions:
    nothing = np.zeros((len(regions.counts), len(regions.outcomes) - 1), dtype=np.int64)
    return replace(regions, counts=np.column_stack([regions.population, nothing]))


def _shares(periods: ByPeriod, programme: Programme) -> Shares:
    found = (replace(regions, protection=programme.protection) for regions in periods.values())
    return Shares.total(Shares.of(coarsening.reported(regions, programme)) for regions in found)


def _of_attributes(periods: ByPeriod, programme: Programme, now: Shares) -> list[Change]:
    """Try every attribute; pairs of public ones where none alone brings half of the people.

    Files of decision regions are of the attributes as they are: where the policy names one, nothing is tried.
    """
    if not periods or programme.policy.files or now.announced_share > 1 - MUCH:
        return []
    public, sensitive = programme.names(role="public"), programme.names(role="sensitive")
    several = [name for names in (public, sensitive) if len(names) > 1 for name in names]
    found = []
    for name in programme.attributes:
        tried = [*_coarser(periods, programme, now, name)]
        tried += [_without(periods, programme, now, name)] if name in several else []
        enough = max((change.gain for change in tried), default=0) - AS_GOOD
        found += [next(change for change in tried if change.gain >= enough)] if tried else []
    if max((change.then.announced_share for change in found), default=0) < HALF and len(public) > 2:
        found += [_without(periods, programme, now, *pair) for pair in combinations(public, 2)]
    return found


def _without(periods: ByPeriod, programme: Programme, now: Shares, *names: str) -> Change:
    changed = variants.without(programme, names)
    then = _shares({label: left_out(regions, names, changed) for label, regions in periods.items()}, changed)
    protected = [programme.title_of(name) for name in names if programme.attributes[name].protected]
    cost = f", but nothing compared by {' and '.join(protected)}" if protected else ""
    return Change(f"without {' and '.join(map(programme.title_of, names))}", now, then, cost)


def left_out(regions: Regions, names: Sequence[str], changed: Programme) -> Regions:
    """Add up regions over some attributes.

    Parameters
    ----------
    regions
        As counted.
    names
        Of the attributes.
    changed
        The programme without them.
    """
    kept = [place for place, name in enumerate((*regions.public, *regions.sensitive)) if name not in names]
    rows = [tuple(values[place] for place in kept) for values in regions.values]
    return regions_of_rows(rows, regions.counts, programme=changed, outcomes=regions.outcomes)


def _coarser(periods: ByPeriod, programme: Programme, now: Shares, name: str) -> Iterator[Change]:
    if (hierarchy := programme.attributes[name].coarser) is None:
        return
    for level in range(1, hierarchy.levels + 1):
        names = {value: row[level - 1] for value, row in hierarchy.coarser.items()}
        changed = variants.coarser(programme, name, level)
        then = _shares({label: _renamed(of, name, names, changed) for label, of in periods.items()}, changed)
        levels = "one level" if level == 1 else f"{level} levels"
        yield Change(f"with {programme.title_of(name)} {levels} coarser", now, then)


def _renamed(regions: Regions, name: str, names: Mapping[str, str], changed: Programme) -> Regions:
    place = regions.public.index(name)
    rows = [(*of[:place], names.get(of[place], of[place]), *of[place + 1 :]) for of in regions.values]
    return regions_of_rows(rows, regions.counts, programme=changed, outcomes=regions.outcomes)


def _of_periods(periods: ByPeriod, programme: Programme, now: Shares) -> list[Change]:
    """Try the next longer periods, and years."""
    longer: dict[str, list[Every]] = {"month": ["quarter", "year"], "quarter": ["year"]}
    found = []
    for every in longer.get(programme.period.every, []) if periods and now.announced_share <= 1 - MUCH else []:
        together = defaultdict[str, list[Regions]](list)
        for label, regions in periods.items():
            if (start := parse(label).start) is not None:
                together[containing(start, every).label].append(regions)
        whole = {label: _united(several, programme) for label, several in together.items()}
        found.append(Change(f"with period.every {every}", now, _shares(whole, programme)))
    return found


def _united(several: Sequence[Regions], programme: Programme) -> Regions:
    rows = [values for regions in several for values in regions.values]
    counts = np.concatenate([regions.counts for regions in several])
    return regions_of_rows(rows, counts, programme=programme, outcomes=several[0].outcomes)
