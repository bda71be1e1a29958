"""From channels to what is public of them, and to what only the reviewer sees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from atr.core.display_text import named, spreadsheet_safe
from atr.programme import Programme
from atr.programme.periods import Period
from atr.programme.released import Bound
from atr.records.channels import Channel
from atr.records.joints import Joints, not_covered, settings
from atr.records.model import SPELLED_OUT, GroupChannel, PublicRecords, Told
from atr.records.pools import Pools
from atr.report.build import period_info, programme_info
from atr.report.model import Beside
from atr.sanitise.measured import Leakage

_DIGITS = 3


def public_records(
    programme: Programme, period: Period, joints: Joints, pools: Pools, of: Sequence[Channel]
) -> PublicRecords:
    """Say what is public of records that are released: no count by hidden values, and no text that is a formula.

    Version, date and what stands beside them are still those of a first release, and no files are written; see
    :func:`dated` and :func:`atr.records.files.write_records`.
    """
    settings_of = settings(programme)
    sizes = np.array([channel.counts.sum() for channel in of])
    spelled = len(joints.values) <= SPELLED_OUT and settings_of.channel == "markov"
    groups = []
    for values, joined, channel in zip(pools.values, pools.joined, of, strict=True):
        shared = zip(joints.released, values, strict=True)
        group = GroupChannel(
            values={name: spreadsheet_safe(value) for name, value in shared if value},
            pooled=joined,
            people=int(channel.counts.sum()),
            alpha=channel.alpha,
            totals=tuple(channel.counts.sum(axis=0).tolist()),
        )
        rows = tuple(map(tuple, group.markov.clip(0, 1).tolist())) if spelled else ()
        groups.append(group.model_copy(update={"transition": rows}))
    loss = float(sizes @ [channel.loss for channel in of] / sizes.sum())
    titles = {name: programme.title_of(name) for name in programme.attributes}
    return PublicRecords(
        programme=programme_info(programme),
        period=period_info(period, programme),
        version=1,
        date="",
        column=settings_of.column,
        numeric=bool(settings_of.numeric),
        attributes=joints.released,
        hidden=settings_of.hide,
        not_covered=not_covered(programme),
        titles=titles,
        channel=settings_of.channel,
        distance=settings_of.distance,
        bounds=settings_of.bounds,
        values=tuple(spreadsheet_safe(value) if isinstance(value, str) else value for value in joints.values),
        positive=None if settings_of.column in programme.attributes else spreadsheet_safe(programme.log.positive),
        people=int(sizes.sum()),
        groups=tuple(groups),
        before=_told([channel.before for channel in of], sizes),
        after=_told([channel.after for channel in of], sizes, settings_of.bounds),
        loss=round(loss, _DIGITS + 3),
        sha256={},
    )


def dated(records: PublicRecords, *, version: int, date: str, beside: Sequence[Beside]) -> PublicRecords:
    """The same, as a release of its own."""
    return records.model_copy(update={"version": version, "date": date, "beside": tuple(beside)})


def for_the_reviewer(joints: Joints, pools: Pools, of: Sequence[Channel]) -> dict[str, Any]:
    """What only the reviewer sees: counts by hidden values, and which group decided α."""
    deciding = int(np.argmax([channel.least for channel in of]))
    groups = [
        {
            "group": list(named(values)),
            "people": int(channel.counts.sum()),
            "least_alpha": channel.least,
            "alpha": channel.alpha,
            "loss": channel.loss,
            "before": _plain(channel.before),
            "after": _plain(channel.after),
            "counts": channel.counts.tolist(),
        }
        for values, channel in zip(pools.values, of, strict=True)
    ]
    return {"deciding_group": list(named(pools.values[deciding])), "values": list(joints.values), "groups": groups}


def _told(each: Sequence[Leakage], sizes: Any, bounds: Mapping[Bound, float] | None = None) -> Told:
    """The worst group, and the mean of the information; what keeps a bound is not rounded up above it."""
    bounds = bounds or {}
    return Told(
        ldp=_up(max(of.ldp for of in each), bounds.get("max_ldp")),
        log_lift=_up(max(of.log_lift for of in each), bounds.get("max_log_lift")),
        mutual_information=_up(float(sizes @ [of.mutual_information for of in each] / sizes.sum())) or 0.0,
    )


def _up(nats: float, bound: float | None = None) -> float | None:
    if math.isinf(nats):
        return None
    up = float(math.ceil(nats * 10**_DIGITS - 1e-9) / 10**_DIGITS)
    return max(0.0, up if bound is None or nats > bound else min(up, bound))


def _plain(told: Leakage) -> dict[str, float | None]:
    return {name: None if math.isinf(nats) else nats for name, nats in told._asdict().items()}
