"""What an outsider can check: every statement of a report recomputed from its own printed numbers.

Printed populations are rounded, so a statement is accepted if some exact populations within the rounding make it true,
and refused otherwise. With exact populations (printed, or supplied) it must be reproduced to its last digit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

import atr
from atr import fairness
from atr.announcement import Announcement, published_population
from atr.errors import AtrError
from atr.fidelity import Alpha, Delta, Fidelity
from atr.report import build, model
from atr.report.notes import fidelity_notes
from atr.report.rounding import down, nearest, up
from atr.report.sentences import sentence

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Interval = tuple[float, float]


class VerifyError(AtrError):
    """The file is no report that could be checked."""


@dataclass(frozen=True)
class Finding:
    """A statement that the printed numbers do not bear out."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def verify(path: str | Path, *, population: str | Path | None = None) -> list[Finding]:
    """Recompute a published report from its own numbers.

    Parameters
    ----------
    path
        A ``report.json``.
    population
        A CSV of exact populations: a column for each attribute and a column ``population``, one row per region.

    Returns
    -------
    What was found false; empty if every statement holds.

    Raises
    ------
    VerifyError
        If the file cannot be read as a report.
    """
    content = _read(Path(path))
    try:
        report = model.PublicReport.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise VerifyError(
            f"this is no {model.SCHEMA} report: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=str(path),
        ) from None
    changed = []
    if report.provenance.checksum != model.checksum(content):
        changed = [Finding("provenance.checksum", "the file was changed after it was made")]
    return changed + check(report, population=_supplied(report, Path(population)) if population else None)


def check(report: model.PublicReport, *, population: Ints | None = None) -> list[Finding]:
    """Recompute a report from its own numbers.

    Parameters
    ----------
    report
        The report, as printed.
    population
        (n,) exact people of its regions, in its order, if they are known.
    """
    malformed = list(_form(report))
    if malformed:
        return malformed
    if not report.announced_groups:
        return list(_nothing_announced(report))
    held = _Held.of(report, population)
    checks = (_people(held), _privacy(held), _rates(held), _promise(held), _fairness(held), _texts(held))
    return [finding for found in checks for finding in found]


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise VerifyError("there is no such file", where=str(path)) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise VerifyError(f"cannot be read as JSON ({error})", where=str(path)) from None
    if not isinstance(content, dict):
        raise VerifyError("holds no report", where=str(path))
    return content


def _form(report: model.PublicReport) -> Iterator[Finding]:
    """What must hold before anything can be recomputed."""
    digits, rounding = report.policy.digits, report.policy.population_rounding
    outcomes = set(report.outcomes)
    if len(report.outcomes) != 2 or report.positive not in outcomes:
        yield Finding("outcomes", "are not two, the positive one among them")
    for group in report.announced_groups:
        if group.population is None or group.rate is None or not group.regions:
            yield Finding(group.id, "an announced group lacks its numbers")
            continue
        for region in group.regions:
            where = f"{group.id}, {', '.join(region.sensitive.values())}"
            if set(region.announced) != outcomes:
                yield Finding(where, "the outcomes are not those of the report")
            elif any(not 0 <= x <= 1 or nearest(x, digits) != x for x in region.announced.values()):
                yield Finding(where, f"an announced chance is not a fraction of {digits} digits")
            elif round(sum(region.announced.values()), digits) != 1:
                yield Finding(where, "the announced chances do not add up to 1")
            if region.population < rounding or region.population % rounding:
                yield Finding(where, f"the population is not a multiple of {rounding}")
    counts = report.coverage.groups
    if (counts.announced, counts.withheld) != (len(report.announced_groups), len(report.withheld_groups)):
        yield Finding("coverage.groups", "the numbers of groups are not those listed")
    quality = report.data_quality
    if quality.rows_read != quality.decisions + quality.duplicates + quality.corrections + quality.quarantined:
        yield Finding("data_quality", "the rows do not add up")


def _nothing_announced(report: model.PublicReport) -> Iterator[Finding]:
    if report.fairness or report.coverage.rate or report.privacy.max_confidence is not None:
        yield Finding("groups", "nothing is announced, but figures are stated")
    if report.coverage.announced_share != 0:
        yield Finding("coverage.announced_share", "nothing is announced")


# --- the report's numbers as arrays, with the exact populations they leave open


@dataclass(frozen=True)
class _Held:
    report: model.PublicReport
    announcement: Announcement
    least: Ints
    most: Ints
    columns: dict[str, tuple[str, ...]]

    @property
    def exact(self) -> bool:
        """Whether one population only is left."""
        return bool((self.least == self.most).all())

    @staticmethod
    def of(report: model.PublicReport, supplied: Ints | None) -> _Held:
        regions = [region for group in report.announced_groups for region in group.regions]
        sizes = [len(group.regions) for group in report.announced_groups]
        published = np.array([region.population for region in regions], dtype=np.int64)
        least, most = (supplied, supplied) if supplied is not None else _open(published, report)
        unit = 10**report.policy.digits
        announcement = Announcement(
            outcomes=(report.positive, next(o for o in report.outcomes if o != report.positive)),
            groups=np.arange(len(sizes)),
            group_values=tuple(tuple(group.public.values()) for group in report.announced_groups),
            region_values=tuple(tuple(region.sensitive.values()) for region in regions),
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            population=least if supplied is not None else published,
            published=published,
            chance=np.array([round(r.announced[report.positive] * unit) for r in regions], dtype=np.int64),
            digits=report.policy.digits,
            fidelity=_fidelity(report),
        )
        columns = {
            a.name: tuple(
                (group.public | region.sensitive)[a.name]
                for group in report.announced_groups
                for region in group.regions
            )
            for a in report.attributes
        }
        return _Held(report, announcement, least, most, columns)

    def members(self, position: int) -> slice:
        return slice(int(self.announcement.offsets[position]), int(self.announcement.offsets[position + 1]))


def _open(published: Ints, report: model.PublicReport) -> tuple[Ints, Ints]:
    """The whole numbers of people that are printed as these."""
    rounding = report.policy.population_rounding
    least = np.where(published == rounding, 1, published - rounding // 2)
    return least, published + (rounding - 1) // 2


def _fidelity(report: model.PublicReport) -> Fidelity:
    level = report.fidelity.level
    if report.fidelity.kind == "ranges" or level is None:
        raise VerifyError("the fidelity of this report cannot be checked by this version")
    return Delta(level) if report.fidelity.kind == "delta" else Alpha(level)


def _supplied(report: model.PublicReport, path: Path) -> Ints:
    import pandas as pd

    names = [a.name for a in report.attributes]
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise VerifyError(f"cannot be read as CSV ({error})", where=str(path)) from None
    missing = [name for name in [*names, "population"] if name not in frame]
    if missing:
        raise VerifyError(f"has no column {', '.join(missing)}", where=str(path))
    known: Mapping[tuple[str, ...], str] = {
        tuple(row[:-1]): row[-1] for row in frame[[*names, "population"]].itertuples(index=False, name=None)
    }
    try:
        return np.array(
            [
                int(known[tuple((group.public | region.sensitive)[name] for name in names)])
                for group in report.announced_groups
                for region in group.regions
            ],
            dtype=np.int64,
        )
    except KeyError as error:
        raise VerifyError(f"has no row for the region {error.args[0]}", where=str(path)) from None
    except ValueError:
        raise VerifyError("a population is no whole number", where=str(path)) from None


# --- checks


def _people(held: _Held) -> Iterator[Finding]:
    policy = held.report.policy
    for i, group in enumerate(held.report.announced_groups):
        inside = held.members(i)
        low, high = int(held.least[inside].sum()), int(held.most[inside].sum())
        if not _rounded(low, policy) <= (group.population or 0) <= _rounded(high, policy):
            yield Finding(f"{group.id}.population", "is not what its regions add up to, within rounding")
        if high < policy.minimum_group_size or (group.population or 0) < policy.minimum_group_size:
            yield Finding(f"{group.id}.population", f"is below the minimum of {policy.minimum_group_size}")
        if held.exact and (held.announcement.published[inside] != _round_all(held.least[inside], policy)).any():
            yield Finding(f"{group.id}", "a printed population is not the rounded exact one")


def _round_all(people: Ints, policy: model.PolicyInfo) -> Ints:
    return published_population(people, rounding=policy.population_rounding)


def _rounded(people: int, policy: model.PolicyInfo) -> int:
    return int(_round_all(np.array(people), policy))


def _privacy(held: _Held) -> Iterator[Finding]:
    privacy, digits = held.report.privacy, held.report.policy.digits
    unit = 10**digits
    for name, stated, chance in (
        ("max_confidence", privacy.max_confidence, held.announcement.chance),
        ("prior_confidence", privacy.prior_confidence, np.full_like(held.announcement.chance, unit)),
    ):
        printed = replace(held.announcement, chance=chance)
        least = float(printed.stated(printed.confidences()))
        most = up(max(_surest(held, chance, i) for i in range(len(held.report.announced_groups))), digits)
        if stated is None or not least <= stated <= max(least, most):
            yield Finding(
                f"privacy.{name}",
                f"{stated} is stated, {_either(least, most)} follows from the printed numbers",
            )
    if not privacy.max_confidence:
        return
    if privacy.max_confidence > held.report.policy.max_confidence:
        yield Finding("privacy.max_confidence", "exceeds the ceiling of the policy")
    if privacy.min_uncertainty != down(-math.log(privacy.max_confidence), digits):
        yield Finding("privacy.min_uncertainty", "is not minus the logarithm of max_confidence, rounded down")
    ids = [group.id for group in held.report.announced_groups]
    if privacy.binding_group not in ids:
        yield Finding("privacy.binding_group", "is no announced group")
    elif up(_surest(held, held.announcement.chance, ids.index(privacy.binding_group)), digits) < privacy.max_confidence:
        yield Finding("privacy.binding_group", "does not reach the stated confidence")


def _surest(held: _Held, chance: Ints, group: int) -> float:
    """The largest confidence any exact populations within the rounding allow in a group."""
    inside, unit = held.members(group), 10**held.announcement.digits
    least, most, published = held.least[inside], held.most[inside], held.announcement.published[inside]
    best = 0.0
    for x in (chance[inside], unit - chance[inside]):
        own, others = most * x, int((least * x).sum()) - least * x
        total = np.maximum(own + others, 1)
        printed = published * x
        best = max(best, float((own / total).max()), float((printed / max(int(printed.sum()), 1)).max()))
    return best


def _rates(held: _Held) -> Iterator[Finding]:
    report = held.report
    for i, group in enumerate(report.announced_groups):
        members = np.zeros(len(held.least), dtype=bool)
        members[held.members(i)] = True
        yield from _rate(held, members, group.rate, f"{group.id}.rate")
    yield from _rate(held, np.ones(len(held.least), dtype=bool), report.coverage.rate, "coverage.rate")


def _rate(
    held: _Held, members: npt.NDArray[np.bool_], stated: dict[str, float] | None, where: str
) -> Iterator[Finding]:
    low, high = _box(held, members).value
    positive = held.report.positive
    allowed = nearest(low, build.RATE_DIGITS), nearest(high, build.RATE_DIGITS)
    if stated is None or set(stated) != set(held.report.outcomes):
        yield Finding(where, "does not name the outcomes")
    elif not allowed[0] <= stated[positive] <= allowed[1]:
        yield Finding(where, f"{stated[positive]} is stated, {_either(*allowed)} follows from the printed numbers")
    elif round(sum(stated.values()), build.RATE_DIGITS) != 1:
        yield Finding(where, "the rates do not add up to 1")


def _promise(held: _Held) -> Iterator[Finding]:
    fidelity, policy = held.report.fidelity, held.report.policy
    if fidelity.largest_change != build.largest_change(held.announcement.fidelity, digits=policy.digits):
        yield Finding("fidelity.largest_change", "does not follow from the level")
    floor = policy.fidelity.get(fidelity.kind)
    if floor is None or (fidelity.level or 0) < floor or (policy.objective == "privacy" and fidelity.level != floor):
        yield Finding("fidelity.level", "is not what the policy demands")


def _fairness(held: _Held) -> Iterator[Finding]:
    report, policy = held.report, held.report.policy
    references = {e.attribute: e.reference for e in report.fairness}
    titles = {a.name: a.title for a in report.attributes}
    lines = {e.measure: e.threshold for e in report.fairness if e.threshold is not None}
    expected = fairness.compare(
        build.cells(held.announcement, group_rates=policy.group_rates),
        held.columns,
        protected={a.name: references[a.name] for a in report.attributes if a.protected and a.name in references},
        legitimate=tuple(a.name for a in report.attributes if a.legitimate),
        outcomes=held.announcement.outcomes,
        four_fifths=lines.get("p_percent_rule", 0.8),
        parity_tolerance=lines.get("statistical_parity", 0.05),
    )
    stated = {_key(entry): entry for entry in report.fairness}
    computed = {
        _key(e): e
        for c in expected
        for e in [
            build.entry(
                c, positive=report.positive, titles=titles, digits=policy.digits, rounding=policy.population_rounding
            )
        ]
    }
    for key in stated.keys() ^ computed.keys():
        yield Finding(_name(key), "is missing" if key in computed else "is a comparison that the groups do not give")
    for key in stated.keys() & computed.keys():
        entry = stated[key]
        if held.exact:
            if entry != computed[key]:
                yield Finding(_name(key), _differs(entry, computed[key]))
        else:
            yield from _within_rounding(held, entry)
        if entry.sentence != sentence(entry, positive=report.positive, titles=titles, digits=policy.digits):
            yield Finding(_name(key), "the sentence does not say what the numbers say")


def _within_rounding(held: _Held, entry: model.Fairness) -> Iterator[Finding]:
    digits, rounding = held.report.policy.digits, held.report.policy
    boxes = []
    inside = np.ones(len(held.least), dtype=bool)
    for attribute, value in entry.condition.items():
        inside &= np.array([v == value for v in held.columns[attribute]])
    where = _name(_key(entry))
    for value, people, stated in zip(entry.groups, entry.people, entry.rates, strict=True):
        members = inside & np.array([v == value for v in held.columns[entry.attribute]])
        box = _box(held, members)
        box = box if entry.outcome in (None, held.report.positive) else box.other()
        boxes.append(box)
        low, high = int(held.least[members].sum()), int(held.most[members].sum())
        if not _rounded(low, rounding) <= people <= _rounded(high, rounding):
            yield Finding(where, f"the number of people of {value} does not fit its regions")
        if not nearest(box.value[0], build.RATE_DIGITS) <= stated <= nearest(box.value[1], build.RATE_DIGITS):
            yield Finding(where, f"the rate of {value} does not follow from the printed numbers")
    first, second = boxes
    combine = _ratio if entry.measure == "p_percent_rule" else _difference
    follows = combine(first.value, second.value)
    unit = 10.0**-digits
    if entry.value is not None and not follows[0] - unit / 2 - 1e-9 <= entry.value <= follows[1] + unit / 2 + 1e-9:
        yield Finding(
            where, f"{entry.value} is stated, {follows[0]:.{digits}f} to {follows[1]:.{digits}f} would follow"
        )
    widest = combine((first.low[0], first.high[1]), (second.low[0], second.high[1]))
    bottom, top = entry.range
    if (bottom or 0.0) < widest[0] - unit - 1e-9 or (top is not None and top > widest[1] + unit + 1e-9):
        yield Finding(where, "the range is wider than the promise")
    if entry.value is not None and not (bottom or 0.0) <= entry.value <= (math.inf if top is None else top):
        yield Finding(where, "the value lies outside its own range")
    if entry.verdict != _verdict_of(entry, digits) and not _on_the_line(entry):
        yield Finding(where, "the verdict does not follow from the range")


def _verdict_of(entry: model.Fairness, digits: int) -> str | None:
    low, high = entry.range
    return fairness.verdict(entry.measure, (low or 0.0, math.inf if high is None else high), entry.threshold)  # type: ignore[arg-type]


def _on_the_line(entry: model.Fairness) -> bool:
    """A printed end that equals the threshold was rounded there from one side or the other."""
    lines = {entry.threshold, round(1 / entry.threshold, 6) if entry.threshold else None}
    return bool(lines & set(entry.range))


def _texts(held: _Held) -> Iterator[Finding]:
    report = held.report
    if report.provenance.atr == atr.__version__ and fidelity_notes(report) != report.notes:
        yield Finding("notes", "do not say what the numbers say")


# --- intervals


@dataclass(frozen=True)
class _Box:
    """Of a rate, and of the two ends of its range: between what they lie for all populations within the rounding."""

    value: Interval
    low: Interval
    high: Interval

    def other(self) -> _Box:
        flip = [(1 - high, 1 - low) for low, high in (self.value, self.high, self.low)]
        return _Box(*flip)


def _box(held: _Held, members: npt.NDArray[np.bool_]) -> _Box:
    cells = build.cells(held.announcement, group_rates=held.report.policy.group_rates)
    if held.exact:
        rate = fairness.rate(cells, members)
        return _Box((rate.value, rate.value), (rate.range[0],) * 2, (rate.range[1],) * 2)
    least, most = held.least[members].astype(np.float64), held.most[members].astype(np.float64)
    value = _mean(cells.chance[members], least, most)
    if cells.totals is not None:
        groups = len(
            np.unique(np.repeat(np.arange(len(held.announcement.groups)), np.diff(held.announcement.offsets))[members])
        )
        slack = 0.5 * groups / float(least.sum())
        value = max(0.0, value[0] - slack), min(1.0, value[1] + slack)
    low, high = _mean(cells.lower[members], least, most), _mean(cells.upper[members], least, most)
    return _Box(value, (min(low[0], value[0]), value[1]), (value[0], max(high[1], value[1])))


def _mean(x: Floats, least: Floats, most: Floats) -> Interval:
    """Smallest and largest weighted mean of ``x`` with weights between ``least`` and ``most``."""
    order = np.argsort(x, kind="stable")
    x, least, most = x[order], least[order], most[order]

    def extreme(low_weights: Floats, high_weights: Floats) -> Floats:
        weights = np.concatenate([[0.0], np.cumsum(low_weights)]) + np.concatenate(
            [np.cumsum(high_weights[::-1])[::-1], [0.0]]
        )
        sums = np.concatenate([[0.0], np.cumsum(low_weights * x)]) + np.concatenate(
            [np.cumsum((high_weights * x)[::-1])[::-1], [0.0]]
        )
        return np.asarray(sums / weights)

    return float(extreme(most, least).min()), float(extreme(least, most).max())


def _ratio(a: Interval, b: Interval) -> Interval:
    return a[0] / b[1] if b[1] else 0.0, a[1] / b[0] if b[0] else math.inf


def _difference(a: Interval, b: Interval) -> Interval:
    return max(0.0, a[0] - b[1], b[0] - a[1]), max(a[1] - b[0], b[1] - a[0])


# --- names


_Key = tuple[str, str, tuple[str, str], tuple[tuple[str, str], ...], str | None]


def _key(entry: model.Fairness) -> _Key:
    return entry.measure, entry.attribute, entry.groups, tuple(entry.condition.items()), entry.outcome


def _name(key: _Key) -> str:
    measure, attribute, groups, condition, outcome = key
    given = "".join(f", {name} {value}" for name, value in condition)
    return (
        f"fairness, {measure}, {attribute}: {groups[0]} against {groups[1]}{given}{f', {outcome}' if outcome else ''}"
    )


def _differs(stated: model.Fairness, computed: model.Fairness) -> str:
    fields = [f for f in model.Fairness.model_fields if getattr(stated, f) != getattr(computed, f)]
    return "; ".join(f"{f} is stated as {getattr(stated, f)}, {getattr(computed, f)} follows" for f in fields)


def _either(low: float, high: float) -> str:
    return f"{low}" if low >= high else f"{low} to {high}"
