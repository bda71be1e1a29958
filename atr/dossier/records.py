"""The review dossier of released records: what the column tells, what other bounds would cost, which group decides.

Private: it shows counts by what is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from atr.core.arrays import FloatArray, IntArray
from atr.core.display_text import named, told_apart
from atr.documents import templates
from atr.documents.charts.curves import Curve, CurveWords
from atr.documents.charts.curves import curves as draw
from atr.documents.charts.palette import dark_css
from atr.documents.fonts import with_fonts
from atr.documents.text.beside import ADDS_UP
from atr.documents.text.language import Language
from atr.documents.text.records import RecordsWords, finding, sure
from atr.dossier.curves import percent
from atr.dossier.sign_off import POINTS
from atr.programme.font_files import FontFile
from atr.records.channels import Channel
from atr.records.model import PublicRecords
from atr.records.pools import Pools
from atr.records.versions import Changed

STEPS = 20
"""Steps of α from 0 to 1 in the trade-off."""
MOST_GROUPS = 15
"""Groups in the table: those that need the largest α; all are in ``channels.json``."""


class Point(NamedTuple):
    """What one α for all groups costs and leaves: shares of values altered, and nats of the worst group."""

    alpha: float
    log_lift: float
    ldp: float
    markov: float
    best: float


class Figure(NamedTuple):
    """A chart of what is lost against what is told."""

    title: str
    drawing: Markup


@dataclass(frozen=True)
class RecordsDossier:
    """All a reviewer of records sees, beside their public files.

    ``groups`` are those that need the largest α first (where it is given, those in which the column tells most),
    ``value_rows`` have each value with its people in the log and in the file, ``differences`` figures of the version
    before and now; ``by_group`` is the share of values altered if each group had the α that it needs.
    """

    release: str
    title: str
    report_date: str
    language: str
    publisher: str
    appeal: str
    records: PublicRecords
    quotes: tuple[str, ...]
    warnings: tuple[str, ...]
    points: tuple[Point, ...]
    by_group: str
    groups: tuple[tuple[str, Channel], ...]
    value_rows: tuple[tuple[str, int, int], ...]
    differences: tuple[tuple[str, str, str], ...]
    sign_off: dict[str, str]


def build(
    records: PublicRecords,
    pools: Pools,
    of: Sequence[Channel],
    drawn: IntArray,
    *,
    before: tuple[PublicRecords, Changed] | None = None,
    overlapping: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> RecordsDossier:
    """Put the dossier of released records together.

    Parameters
    ----------
    records
        What is public of them.
    pools, of
        The groups and the channel of each.
    drawn
        (g, y) rows of each group with each released value.
    before
        The version of the period that is published, if there is one, and what is other than there.
    overlapping, beside
        Published records, and reports, of the same people.
    """
    words, programme = RecordsWords.of(records), records.programme
    order = sorted(range(len(of)), key=lambda g: (-of[g].least, -of[g].before.log_lift, -of[g].counts.sum(), g))
    titles = [records.titles.get(name, name) for name in records.attributes]
    totals = zip(records.values, records.totals.tolist(), drawn.sum(axis=0).tolist(), strict=True)
    return RecordsDossier(
        release=f"{records.period.label}, records, version {records.version}",
        title=programme.title,
        report_date=records.date,
        language=programme.language,
        publisher=f"{programme.publisher.name}, {programme.publisher.contact}",
        appeal=programme.system.appeal,
        records=records,
        quotes=(finding(words), sure(words)),
        warnings=tuple(_warnings(records, overlapping, beside, before)),
        points=tuple(trade_off(of, records.alpha)),
        by_group=percent(_by_group(of)),
        groups=tuple(
            (", ".join(named(tuple(map(told_apart, pools.values[g], titles)))) or "everybody", of[g]) for g in order
        ),
        value_rows=tuple((words.value(value), there, here) for value, there, here in totals),
        differences=() if before is None else tuple(_differences(before[0], records)),
        sign_off=POINTS["records"],
    )


def trade_off(of: Sequence[Channel], alpha: float) -> list[Point]:
    """Compute what each α costs if all groups have it, by either channel, and what the column tells then.

    Parameters
    ----------
    of
        The channel of each group.
    alpha
        The α to have among the points.

    Returns
    -------
    The points by ascending α; without α = 0 where the column tells a value of what is hidden for certain.

    References
    ----------
    [DLF], the linear reduction: P(Y = x | s) / P(Y = x) = (1 - α) P(X = x | s) / P(X = x) + α, and the least D_TV,
    α Σ P(s) TV(P(X | s), P(X)), which the best channel attains.
    """
    ratios, markov, best, everybody = list[FloatArray](), 0.0, 0.0, 0
    for channel in of:
        counts = channel.counts[:, channel.counts.sum(axis=0) > 0]
        people, hidden = counts.sum(), counts.sum(axis=1, keepdims=True)
        column, given = counts.sum(axis=0) / people, counts / hidden
        ratios.append(given / column)
        markov += people - people * float(column @ column)
        best += float((hidden * np.abs(given - column)).sum()) / 2
        everybody += people
    low, high = (np.concatenate([end(of_group, axis=0) for of_group in ratios]) for end in (np.min, np.max))
    found = []
    for a in sorted({*(step / STEPS for step in range(STEPS + 1)), alpha}):
        with np.errstate(divide="ignore"):
            least, most = (np.log((1 - a) * ends + a) for ends in (low, high))
        log_lift, ldp = float(max(most.max(), -least.min())), float((most - least).max())
        if math.isfinite(ldp):
            found.append(Point(a, max(log_lift, 0.0), max(ldp, 0.0), a * markov / everybody, a * best / everybody))
    return found


def _by_group(of: Sequence[Channel]) -> float:
    """The share of values altered if each group had the α that it needs: it is linear in α."""
    people = np.array([channel.counts.sum() for channel in of])
    lost = [channel.loss * channel.least / channel.alpha if channel.alpha else 0.0 for channel in of]
    return float(people @ lost / people.sum())


def figures(dossier: RecordsDossier) -> list[Figure]:
    """Draw values altered against what is told, by log-lift and by LDP; none where nothing is told at any α."""
    names = (("log_lift", "log-lift"), ("ldp", "local differential privacy"))
    return [_figure(dossier, told, title) for told, title in names if _nats(dossier.points[0], told) > 0]


def _figure(dossier: RecordsDossier, told: str, title: str) -> Figure:
    records = dossier.records
    points = {_nats(point, told): point for point in reversed(dossier.points)}
    xs = sorted({*points, chosen := round(max(getattr(c.after, told) for _, c in dossier.groups), 3)})
    known = sorted(points)

    def heights(channel: str) -> tuple[float, ...]:
        ys = [getattr(points[x], channel) for x in known]
        return tuple((100 * np.interp(xs, known, ys)).tolist())

    at, levels = xs.index(chosen), list[Curve]()
    drawn = [
        Curve(name, percent(ys[at] / 100), ys)
        for name, ys in (("Markov", heights("markov")), ("best: the least possible", heights("best")))
    ]
    if len({group.alpha for group in records.groups}) > 1:
        levels.append(Curve("as drafted, α by group", percent(records.loss), (100 * records.loss,)))
    said = "; ".join(f"{line.label} {line.text}" for line in (*drawn, *levels))
    mark = f"{chosen:g} nats"
    words = CurveWords(f"Values altered against {title}. At {mark}, as drafted: {said}.", "nats", mark)
    return Figure(f"Values altered, in 100, against {title}", draw(xs, drawn, levels, words, mark=chosen))


def _nats(point: Point, told: str) -> float:
    return round(float(getattr(point, told)), 3)


def render(dossier: RecordsDossier, folder: Path, *, fonts: Sequence[FontFile] = ()) -> None:
    """Write ``dossier.html``; the same dossier gives the same bytes.

    Parameters
    ----------
    dossier
        From :func:`build`.
    folder
        Is there.
    fonts
        Fonts for the characters that no bundled font has.
    """
    html = templates.render(
        "dossier/records.html.jinja",
        dossier=dossier,
        charts=figures(dossier),
        MOST=MOST_GROUPS,
        dark=Markup(dark_css()),  # noqa: S704 - colours of the palette
    )
    (folder / "dossier.html").write_text(with_fonts(html, supplied=fonts), encoding="utf-8")


def said_of_both(changed: Changed) -> str:
    """Say what is other in a new version than in the published one, and what both tell, in two sentences."""
    rows, totals, alphas = (
        Language.of("en").say_n(f"{{n}} {of}", f"{{n}} {of}s", n)
        for of, n in zip(("row", "total", "alpha"), changed, strict=True)
    )
    return (
        f"Other than there: {rows}, {totals} and {alphas} of groups. Both versions together tell more of the people "
        "who changed than the bound of either."
    )


def _warnings(
    records: PublicRecords,
    overlapping: Sequence[str],
    beside: Sequence[str],
    before: tuple[PublicRecords, Changed] | None,
) -> list[str]:
    found = []
    if before is not None and any(before[1]):
        found.append(
            f"Version {before[0].version} is published. {said_of_both(before[1])}"
            + (
                " Totals are exact: whoever has both versions learns the true values of people who came, went or were "
                "corrected since, and what these tell."
                if before[1].totals
                else ""
            )
        )
    if overlapping:
        found.append(
            f"Records of the same people are published ({', '.join(overlapping)}): whoever has both draws learns more "
            "than either bound says, and whoever subtracts one from the other learns of those who are in one alone. "
            "Publish one or the other; --despite-overlap publishes both, and the ledger keeps that you accept it."
        )
    if beside:
        found.append(f"Reports of the same people are published ({', '.join(beside)}). {ADDS_UP}")
    if records.channel == "best":
        found.append(
            "The programme states that no reader knows a person's own value of the column, nor anything that "
            "determines it. Whoever does learns what is hidden from a value that was altered."
        )
    if records.not_covered:
        names = ", ".join(records.titles.get(name, name) for name in records.not_covered)
        found.append(f"Nothing is promised of other sensitive attributes: {names}.")
    return found


def _differences(before: PublicRecords, now: PublicRecords) -> list[tuple[str, str, str]]:
    def of(records: PublicRecords) -> dict[str, str]:
        return {
            "Version": str(records.version),
            "Rows": f"{records.people:,}",
            "Groups": f"{len(records.groups):,}",
            "Column": records.column,
            "Hidden": ", ".join(records.hidden),
            "Channel": records.channel,
            "Bounds, nats": ", ".join(f"{name} {bound:g}" for name, bound in records.bounds.items()) or "none",
            "Largest α": f"{records.alpha:g}",
            "Values altered": percent(records.loss),
        }

    then = of(before)
    return [(name, then[name], said) for name, said in of(now).items()]
