"""What records would be released of a period: for the person who chooses bounds, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr import sanitise
from atr.core.display_text import counted, named, told_apart
from atr.programme import Programme
from atr.programme.periods import ALL, Period
from atr.programme.released import Bound
from atr.records.channels import Channel, channels
from atr.records.joints import Joints, count, not_covered, settings
from atr.records.pools import Pools, pooled
from atr.warehouse.connection import Warehouse

SHOWN = 5
"""So many groups are named, those that need the largest α."""


@dataclass(frozen=True, slots=True)
class ForeseenGroup:
    """One group of a release, with the smallest α that keeps the bounds in it, and the one that would be used."""

    group: tuple[str, ...]
    people: int
    pooled: bool
    least_alpha: float
    alpha: float
    altered: float


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What would be released of a period.

    Parameters
    ----------
    period
        Its label.
    rows
        People decided on, each of whom has one.
    altered
        The share of values that are expected to be altered.
    decided_by
        The bound that decided the largest α; None where the programme says α, or where none is needed.
    drawn_anew
        Whether values are drawn anew with chance α (Markov), or altered by what is hidden (best).
    groups
        The one that needs the largest α first.
    remarks
        What deserves a look: what is not bounded, and what is told whatever the column does.
    """

    period: str
    rows: int
    altered: float
    decided_by: Bound | None
    drawn_anew: bool
    groups: tuple[ForeseenGroup, ...]
    remarks: tuple[str, ...] = ()

    def said(self) -> list[str]:
        """Say it in words, line by line."""
        pools = sum(of.pooled for of in self.groups)
        period = "the whole log" if self.period == ALL.label else self.period
        joined = f", {pools:,} of them pooled" if pools else ""
        lines = [
            f"records of {period}: {counted(self.rows, 'row')} in {counted(len(self.groups), 'group')}{joined}; "
            f"about {100 * self.altered:.0f} in 100 values are altered."
        ]
        if self.decided_by is not None:
            lines.append(f"  {self.decided_by} decides. In {period} these groups need the largest alpha:")
            lines += [f"    {self._group(of)}" for of in self.groups[:SHOWN]]
        return [*lines, *(f"  {remark}." for remark in self.remarks)]

    def _group(self, of: ForeseenGroup) -> str:
        who = ", ".join(of.group) or "all people"
        drawn = f"{100 * of.alpha:.0f} in 100 values drawn anew, " if self.drawn_anew else ""
        needed = "" if of.least_alpha > of.alpha - 0.001 else f"; {of.least_alpha:.3f} would do for them alone"
        people = counted(of.people, "person", "people")
        return f"{who} ({people}): {drawn}{100 * of.altered:.0f} in 100 altered (alpha {of.alpha:g}{needed})"


def foresee(warehouse: Warehouse, programme: Programme, period: Period) -> Foreseen:
    """Say what records of a period would be, from counts alone.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme, period
        What would be released.

    Raises
    ------
    ProgrammeError, RefusedError
        As the release itself: see :func:`atr.records.joints.count`, :func:`atr.records.pools.pooled` and
        :func:`atr.records.channels.channels`.
    """
    joints = count(warehouse, programme, period)
    pools = pooled(joints, programme)
    of = channels(joints, pools, programme)
    titles = [programme.title_of(name) for name in joints.released]
    groups = [
        ForeseenGroup(
            named(tuple(map(told_apart, values, titles))),
            int(channel.counts.sum()),
            joined,
            channel.least,
            channel.alpha,
            channel.loss,
        )
        for values, joined, channel in zip(pools.values, pools.joined, of, strict=True)
    ]
    rows = sum(group.people for group in groups)
    return Foreseen(
        period=period.label,
        rows=rows,
        altered=sum(group.people * group.altered for group in groups) / rows,
        decided_by=_decided_by(max(of, key=lambda channel: channel.least), programme),
        drawn_anew=settings(programme).channel == "markov",
        groups=tuple(sorted(groups, key=lambda group: -group.least_alpha)),
        remarks=tuple(_remarks(joints, pools, of, programme)),
    )


def _remarks(joints: Joints, pools: Pools, of: Sequence[Channel], programme: Programme) -> list[str]:
    names, known = settings(programme).hide, not_covered(programme)
    hidden, found = " and ".join(names), []
    if known:
        found.append(f"sensitive, and not in sanitise.hide: {', '.join(known)}. What a row tells of that has no bound")
    telling = [name for i, name in enumerate(joints.released) if _determines(joints, pools, i)]
    found += [
        f"each value of {name} goes with one value of {hidden}: every row shows {name}, and so tells {hidden} whatever "
        f"the column does. Hide {name} too, or say within: none"
        for name in telling
    ]
    if all(len(channel.counts) == 1 for channel in of) and not telling:
        whom = "everybody has" if len({*joints.hidden.tolist()}) == 1 else "the people of each group share"
        found.append(f"{whom} one value of {hidden}: there is nothing that the column could hide")
    return found


def _determines(joints: Joints, pools: Pools, attribute: int) -> bool:
    """Whether rows with one value of an attribute, as the file shows it, all have one hidden value, of several."""
    kept = pools.of_cell >= 0
    shown = {(pools.values[p][attribute], h) for p, h in zip(pools.of_cell[kept], joints.hidden[kept], strict=True)}
    return len({value for value, _ in shown}) == len(shown) and len({h for _, h in shown}) > 1


def _decided_by(channel: Channel, programme: Programme) -> Bound | None:
    """The bound that needs the largest α in a group."""
    joint = channel.counts / channel.counts.sum()
    needed = [
        (sanitise.choose_alpha(joint, **{name: bound}), name) for name, bound in settings(programme).bounds.items()
    ]
    alpha, name = max(needed, default=(0.0, None))
    return name if alpha > 0 else None
