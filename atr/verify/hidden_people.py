"""What released records tell of what is hidden, from exact numbers of people that the public does not have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from atr.core.arrays import FloatArray
from atr.errors import VerifyError
from atr.records.model import GroupChannel, PublicRecords
from atr.verify.finding import Finding, between, failed

_PEOPLE = "population"
_ROUNDED = 10**-3
"""What is stated is rounded up to so much."""


def people_of(records: PublicRecords, path: Path) -> list[FloatArray]:
    """Read the people of every group by hidden values and value of the column.

    Parameters
    ----------
    records
        What is stated; values are written as there, a missing number as nothing.
    path
        A CSV with the columns of released and hidden attributes, the column, and ``population``.

    Returns
    -------
    For each group (s, x) people.

    Raises
    ------
    VerifyError
        If it cannot be read, or has other totals than are stated.
    """
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise VerifyError(f"cannot be read as CSV ({error})", where=str(path)) from None
    missing = [name for name in (*records.columns, *records.hidden, _PEOPLE) if name not in frame]
    if missing:
        raise VerifyError(f"has no column {', '.join(missing)}", where=str(path))
    if not frame[_PEOPLE].str.fullmatch("[0-9]{1,12}").all():
        raise VerifyError("a population is no whole number of people", where=str(path))
    column = frame[records.column]
    value = column.where(column != "", np.nan).astype(float) if records.numeric else column
    people = frame[_PEOPLE].astype(np.int64)
    hidden = frame[list(records.hidden)].apply(tuple, axis=1)
    finest = sorted(range(len(records.groups)), key=lambda i: -len(records.groups[i].values))
    left, found = pd.Series(True, index=frame.index), {}
    for i in finest:
        group = records.groups[i]
        inside = left.copy()
        for name, shown in group.values.items():
            inside &= frame[name] == shown
        left &= ~inside
        rows = [value[inside].isna() if of is None else value[inside] == of for of in records.values]
        tables = [people[inside][row].groupby(hidden[inside][row]).sum() for row in rows]
        counts = pd.concat(tables, axis=1).fillna(0).to_numpy(np.float64)
        if counts.sum(axis=0).astype(np.int64).tolist() != list(group.totals):
            raise VerifyError(f"has other totals than groups[{i}]", where=str(path))
        found[i] = counts[counts.sum(axis=1) > 0]
    return [found[i] for i in range(len(records.groups))]


def bounds_kept(records: PublicRecords, people: list[FloatArray]) -> Iterator[Finding]:
    """Give what is false in what is stated of before and after, and which groups exceed a bound."""
    before = [
        _told(counts / counts.sum(axis=1, keepdims=True), counts, group) for counts, group in _both(records, people)
    ]
    after = []
    for i, (counts, group) in enumerate(_both(records, people)):
        given = counts / counts.sum(axis=1, keepdims=True)
        told = _told((1 - group.alpha) * given + group.alpha * np.array(group.totals) / group.people, counts, group)
        after.append(told)
        for name, at in (("max_ldp", told[0]), ("max_log_lift", told[1])):
            bound = dict(records.bounds).get(name, np.inf)  # type: ignore[call-overload]
            yield from failed((at <= bound + 1e-9, f"groups[{i}]", f"tells {at:.4f} nats, above {name}, {bound}"))
    sizes = np.array([group.people for group in records.groups])
    for when, stated, each in (("before", records.before, before), ("after", records.after, after)):
        ldp, lift, information = zip(*each, strict=True)
        mean = float(sizes @ information / sizes.sum())
        for name, follows in (("ldp", max(ldp)), ("log_lift", max(lift)), ("mutual_information", mean)):
            told_there = getattr(stated, name)
            told_there = np.inf if told_there is None else told_there
            if not (np.isinf(follows) and np.isinf(told_there)):
                yield from between(f"{when}.{name}", told_there, follows - 1e-9, follows + _ROUNDED)


def _both(records: PublicRecords, people: list[FloatArray]) -> Iterator[tuple[FloatArray, GroupChannel]]:
    return zip(people, records.groups, strict=True)


def _told(given: FloatArray, counts: FloatArray, group: GroupChannel) -> tuple[float, float, float]:
    """LDP, log-lift and mutual information of (s, x) chances of the column, in nats."""
    possible = np.array(group.totals) > 0
    given, column = given[:, possible], np.array(group.totals)[possible] / group.people
    with np.errstate(divide="ignore"):
        lift = np.log(given) - np.log(column)
    hidden = counts.sum(axis=1) / counts.sum()
    information = float((hidden[:, None] * given * np.where(given > 0, lift, 0)).sum())
    return float((lift.max(axis=0) - lift.min(axis=0)).max()), float(np.abs(lift).max()), information
