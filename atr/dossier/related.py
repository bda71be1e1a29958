"""Other reports that tell of the same people, and what whoever has them and the new one can work out. Private."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from atr.core.publication import RATE_DIGITS
from atr.programme import Programme
from atr.programme.periods import Period
from atr.report import model
from atr.warehouse.entries import entry_of
from atr.warehouse.kept_releases import Kept
from atr.warehouse.ledger import Ledger
from atr.warehouse.raw_values import Item, RawSet, inside
from atr.warehouse.register import Entry, Limits, Register

MOST = 5
"""So many of the narrowest bounds are told."""
_HALF = 0.5 / 10**RATE_DIGITS
"""How far a printed rate may be from the true one."""
_inside = cache(inside)


@dataclass(frozen=True, slots=True)
class Related:
    """The other reports that tell of the same people: waiting and published ones.

    ``overlapping`` are the reports that cannot be matched with this one, as they share only some of its days or divide
    people otherwise, ``published`` the versions of this period, ``together`` what can be worked out from the first.
    """

    overlapping: tuple[str, ...] = ()
    published: tuple[int, ...] = ()
    together: tuple[str, ...] = ()


class _Cell(NamedTuple):
    """Some people of a report: their days, raw values by column, printed number, and limits of their chance."""

    report: str
    days: Period
    values: dict[str, RawSet]
    people: int
    limits: Limits
    whole_group: bool

    @property
    def counts(self) -> Limits:
        """At least and at most so many people."""
        return self.limits[0] * self.people, self.limits[1] * self.people


def related(
    programme: Programme, ledger: Ledger, period: str, report: model.PublicReport | None, kept: Kept
) -> Related:
    """Find the reports that tell of the same people as one that is about to be a draft.

    Parameters
    ----------
    programme, period
        What the report is about.
    ledger
        The releases of the programme.
    report
        What would be published; None where the run was refused.
    kept
        What is kept of it.
    """
    versions = tuple(release.version for release in ledger.releases(period) if release.state == "published")
    waiting = ledger.overlapping(period, "draft")
    if report is None:
        return Related(tuple(dict.fromkeys((*waiting, *ledger.overlapping(period, "published")))), versions)
    register = Register(programme)
    content = report.model_dump(mode="json", by_alias=True)
    entry = entry_of(content, programme, log=kept.log, raw=kept.raw, store=register.store, sha256="")
    against = register.against(entry)
    names = (*waiting, *(other.named(register.store) for other in against))
    return Related(tuple(dict.fromkeys(names)), versions, tuple(together(entry, against, positive=report.positive)))


def together(entry: Entry, others: Iterable[Entry], *, positive: str) -> list[str]:
    """Bound how many have the positive outcome among people of one report who are not in another: the narrowest few."""
    found: dict[str, float] = {}
    for other in others:
        if entry.log.outcomes[0] in other.log.outcomes:
            for text, width in _parts(entry, other, positive):
                found[text] = min(width, found.get(text, 1.0))
    return sorted(found, key=lambda text: (found[text], text))[:MOST]


def _parts(entry: Entry, other: Entry, positive: str) -> Iterator[tuple[str, float]]:
    """What follows of cells that contain each other, in words, and how wide it is as a share of people."""
    mine, theirs = ([*_cells(of, entry.log.outcomes[0])] for of in (entry, other))
    for one, another in product(mine, theirs):
        if one.whole_group != another.whole_group:
            continue  # what a group's rate leaves for the rest of a region follows from one report alone
        large, small = (one, another) if _holds(one, another) else (another, one)
        if not _holds(large, small):
            continue
        (a, b), (c, d) = large.counts, small.counts
        if _holds(small, large):
            what, people, low, high = _named(large), large.people, max(a, c), min(b, d)
            if (low, high) in ((a, b), (c, d)):
                continue
        else:
            what, people = f"{_named(large)}, without {_named(small)}", large.people - small.people
            low, high = max(0.0, a - d), min(float(people), b - c)
        if people > 0 and low <= high:
            yield (
                f"{what}: between {low:.0f} and {high:.0f} of {people:,} people had “{positive}”",
                (high - low) / people,
            )


def _cells(entry: Entry, outcome: RawSet) -> Iterator[_Cell]:
    place, report, days = entry.log.outcomes.index(outcome), f"{entry.programme} {entry.period}", entry.days
    for group in entry.groups:
        public, rate = dict(zip(entry.log.public, group.public, strict=True)), group.rate[place]
        yield _Cell(report, days, public, group.people, (max(0.0, rate - _HALF), min(1.0, rate + _HALF)), True)
        for region in group.regions:
            if region.limits is not None:
                values = public | dict(zip(entry.log.sensitive, region.sensitive, strict=True))
                yield _Cell(report, days, values, region.people, region.limits[place], False)


def _holds(large: _Cell, small: _Cell) -> bool:
    """Whether all people of one cell are in the other."""
    if large.days.start and (small.days.start is None or small.days.start < large.days.start):
        return False
    if large.days.end and (small.days.end is None or small.days.end > large.days.end):
        return False
    return all(_inside(small.values.get(name, "*"), raws) for name, raws in large.values.items())


def _named(cell: _Cell) -> str:
    values = [f"{name} {' or '.join(map(_word, raws))}" for name, raws in cell.values.items() if raws != "*"]
    return f"{cell.report} ({', '.join(values)})" if values else cell.report


def _word(item: Item) -> str:
    if not isinstance(item, tuple):
        return "missing" if item is None else item
    ends = [f"{end} {number:g}" for end, number in zip(("from", "below"), item, strict=True) if number is not None]
    return " ".join(ends)
