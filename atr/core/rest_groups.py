"""Rest groups: groups that cannot be announced on their own join by public attributes alone, until they can.

Decided from numbers of people and the policy. What was decided about anybody is not even passed on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, pairwise
from operator import or_

import numpy as np

from atr.core.arrays import IntArray, Values, offsets_of
from atr.core.display_text import ANY
from atr.core.regions import DisclosureStatus, Regions

Status = Callable[[Regions], IntArray]
"""What becomes of each of some groups, (g,) :class:`DisclosureStatus`, from their numbers of people."""


def shared(values: Iterable[Values]) -> Values:
    """Give the values that all of some groups share, and :data:`ANY` where they differ.

    >>> shared([("women", "young"), ("women", "old")])
    ('women', '')
    """
    return tuple(of[0] if len(set(of)) == 1 else ANY for of in zip(*values, strict=True))


def rest_groups(
    regions: Regions, protected: Sequence[str], status: Status, *, fixed: Mapping[Values, Values] | None = None
) -> dict[Values, Values]:
    """Decide which groups join which rest group.

    Groups that agree in every protected attribute join first; then, one after the other, the last declared protected
    attribute no longer counts. What can be announced is kept each time. Groups of too few people that are left in the
    end join the rest group that shares most protected attributes with them, of these the smallest; where that does not
    do, the smallest announced group that shares most, or several. A group that is large enough, but of which too much
    is known, takes part until then, as long as it keeps no other one from being announced.

    Parameters
    ----------
    regions
        As counted.
    protected
        Names of the protected public attributes, in the order of declaration.
    status
        What becomes of groups.
    fixed
        The public values of the rest groups that groups were in in an earlier version of the same period.

    Returns
    -------
    For each group that joins others, by its public values, the public values that all in the rest group share.
    """
    if not len(regions):
        return {}
    joining = _Joining(regions, tuple(regions.public.index(name) for name in protected), status)
    pieces = joining.kept(fixed or {})
    for depth in range(len(protected), -1, -1):
        pieces = joining.stage(pieces, joining.protected[:depth])
    joining.last(pieces)
    return {regions.group_values[group]: piece.values for piece in joining.rest for group in piece.groups}


@dataclass(frozen=True)
class _Piece:
    """Some groups, by their positions, and the public values that they share."""

    groups: tuple[int, ...]
    values: Values

    def __or__(self, other: _Piece) -> _Piece:
        return _Piece((*self.groups, *other.groups), shared([self.values, other.values]))


class _Joining:
    """The pieces that are rest groups so far, and what becomes of each group alone."""

    def __init__(self, regions: Regions, protected: tuple[int, ...], status: Status) -> None:
        self.regions, self.protected, self.status = regions, protected, status
        people = [*zip(regions.region_values, regions.population.tolist(), strict=True)]
        self._regions_of = [dict(people[first:end]) for first, end in pairwise(regions.offsets.tolist())]
        self.rest: list[_Piece] = []
        alone = [_Piece((i,), values) for i, values in enumerate(regions.group_values)]
        self.alone = dict(zip(alone, self.status(self._people(alone)).tolist(), strict=True))

    def _people(self, pieces: Sequence[_Piece]) -> Regions:
        """The pieces as groups of people of whom no decision is known."""
        rows: list[Counter[Values]] = []
        for piece in pieces:
            united: Counter[Values] = Counter()
            for group in piece.groups:
                united.update(self._regions_of[group])
            rows.append(united)
        counts = np.array([n for row in rows for n in row.values()], dtype=np.int64)
        nothing = np.zeros((len(counts), len(self.regions.outcomes) - 1), dtype=np.int64)
        return replace(
            self.regions,
            group_values=tuple(piece.values for piece in pieces),
            region_values=tuple(values for row in rows for values in row),
            counts=np.column_stack([counts, nothing]),
            offsets=offsets_of(np.array([len(row) for row in rows], dtype=np.int64)),
            merged={},
            earlier=None,
            versions=None,
            known=None,
        )

    def size(self, piece: _Piece) -> int:
        return int(self.regions.group_population[list(piece.groups)].sum())

    def status_of(self, piece: _Piece) -> int:
        """What becomes of the groups of a piece together."""
        return int(self.status(self._people([piece]))[0])

    def _stands(self, united: _Piece) -> bool:
        """Make a rest group of a piece, in place of those that are in it, if it can be announced."""
        if self.status_of(united) != DisclosureStatus.ANNOUNCED:
            return False
        self.rest = [*(of for of in self.rest if {*of.groups}.isdisjoint(united.groups)), united]
        return True

    def kept(self, fixed: Mapping[Values, Values]) -> list[_Piece]:
        """Join what was joined before; give what cannot be announced, be it alone or so."""
        before: dict[Values, _Piece] = {}
        for piece in self.alone:
            if piece.values in fixed:
                whole = fixed[piece.values]
                before[whole] = before.get(whole, _Piece((), whole)) | piece
        for piece in before.values():
            if len(piece.groups) > 1:
                self._stands(piece)
        return self._apart(DisclosureStatus.TOO_SMALL, DisclosureStatus.PRIOR_TOO_SURE)

    def _apart(self, *statuses: DisclosureStatus) -> list[_Piece]:
        """Groups of some statuses that are in no rest group."""
        joined = {group for piece in self.rest for group in piece.groups}
        return [p for p, status in self.alone.items() if status in statuses and joined.isdisjoint(p.groups)]

    def stage(self, pieces: Sequence[_Piece], kept: Sequence[int]) -> list[_Piece]:
        """Join pieces that agree in some attributes, by their places; give those that cannot be announced so."""
        alike: dict[Values, list[_Piece]] = defaultdict(list)
        for piece in pieces:
            alike[tuple(piece.values[place] for place in kept)].append(piece)
        return [piece for together in alike.values() for piece in self._joined(together)]

    def _joined(self, pieces: list[_Piece]) -> list[_Piece]:
        """Join all pieces, or those of too few people alone; give those that stay as they are."""
        for which in (pieces, self._small(pieces)):
            if len(which) > 1 and self._stands(reduce(or_, which)):
                return [piece for piece in pieces if piece not in which]
        return pieces

    def _small(self, pieces: Iterable[_Piece]) -> list[_Piece]:
        return [piece for piece in pieces if self.alone[piece] == DisclosureStatus.TOO_SMALL]

    def last(self, pieces: Sequence[_Piece]) -> None:
        """Let what has too few people in the end join what can be announced: all of it together, or one by one.

        If too few people would still be left out, so that they could be found by subtraction, joining goes on.
        """
        small = sorted(self._small(pieces), key=self.size)
        if not small or self._attached(reduce(or_, small)):
            return
        left = [piece for piece in small if not self._attached(piece)]
        if left and self.status_of(united := reduce(or_, left)) == DisclosureStatus.TOO_SMALL:
            for grown in accumulate(self._targets(united), or_, initial=united):
                if self._stands(grown):
                    break

    def _attached(self, piece: _Piece) -> bool:
        return any(self._stands(target | piece) for target in self._targets(piece))

    def _targets(self, piece: _Piece) -> Iterator[_Piece]:
        """Rest groups, then announced groups; those that share most protected attributes first, then the smallest."""

        def place(target: _Piece) -> tuple[int, int]:
            return -sum(target.values[i] == piece.values[i] != ANY for i in self.protected), self.size(target)

        yield from sorted(self.rest, key=place)
        yield from sorted(self._apart(DisclosureStatus.ANNOUNCED), key=place)
