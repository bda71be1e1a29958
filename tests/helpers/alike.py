"""Logs in which groups differ by chance, by situation or not at all, and headlines read against the published rules."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from atr.core.comparison_rows import joined
from atr.core.regions import Regions
from atr.documents import csv as annex
from atr.programme import Programme
from atr.report import model
from atr.report.headline import Headline, headline
from tests.helpers import series, whole

GROUPS, PLACES, SECRETS = ("a", "b", "c"), ("here", "there"), ("low", "mid", "high")
OUTCOMES = ("approved", "refused")


def programme(**policy: Any) -> Programme:
    """People of groups, in places, with a secret; groups are protected."""
    content = series.programme(**{"mechanism": "calibrated", "max_confidence": 0.8, "minimum_group_size": 20, **policy})
    known = content["attributes"]
    known["public"] |= {"protected": True, "legitimate": False}
    content["attributes"] = {"public": known["public"], "place": {"role": "public"}, "secret": known["secret"]}
    content["log"]["coverage"] = "sample"
    return Programme.model_validate(content)


def drawn(made: Programme, seed: int) -> Regions:
    """The regions of a drawn log."""
    draw = np.random.default_rng(seed)
    groups = [(group, place) for group in GROUPS[: draw.integers(2, 4)] for place in PLACES]
    chance = draw.uniform(0.1, 0.9, (len(PLACES), len(SECRETS)))
    apart = dict(zip(GROUPS, draw.choice([0.0, 0.0, 0.1, 0.3], len(GROUPS)), strict=True))
    people = draw.integers(3, draw.choice([20, 60, 200]), (len(groups), len(SECRETS)))
    chances = [np.clip(chance[PLACES.index(place)] - apart[group], 0.0, 1.0) for group, place in groups]
    approved = draw.binomial(people, chances)
    return Regions(
        public=("public", "place"),
        protection=made.protection,
        outcomes=OUTCOMES,
        group_values=tuple(groups),
        region_values=tuple((value,) for _ in groups for value in SECRETS),
        counts=np.stack([approved, people - approved], axis=2).reshape(-1, 2),
        offsets=np.arange(len(groups) + 1) * len(SECRETS),
    )


def published(made: Programme, regions: Regions) -> model.PublicReport:
    """The public report, which verifies."""
    announced = whole.announced(made, regions)
    report = whole.report(made, regions, announced)
    whole.verifies(report, announced)
    return report


def rules(report: model.PublicReport) -> pd.DataFrame:
    """announced_rules.csv as a reader has it."""
    return pd.read_csv(io.BytesIO(annex.announced_rules(report)), dtype=str, keep_default_na=False)


def true(report: model.PublicReport, of: model.AlikeDifference, groups: tuple[str, str], regions: Regions) -> float:
    """What a difference by the first public attribute is in the log, classes weighted by its people."""
    names = [*regions.public, "secret"]
    values = [(*regions.group_values[g], *regions.region_values[i]) for i, g in enumerate(regions.group_of)]
    log = pd.DataFrame(values, columns=names).assign(people=regions.counts.sum(axis=1), k=regions.counts[:, 0])
    known = {tuple(group.public.values()) for group in report.groups if group.status in ("announced", "rate_only")}
    told = {tuple(group.public.values()) for group in report.groups if group.regions and group.status == "announced"}
    kept = told if "secret" in of.alike_in else known
    log = log[[pair in kept for pair in zip(log["public"], log["place"], strict=True)]]
    printed = {tuple(of.values.values()): of.region.people for of in report.announced_regions if of.region.sensitive}
    whole_groups = {tuple(group.public.values()): group.population for group in report.announced_groups}
    each = [printed.get(tuple(row)) for row in log[["public", "place", "secret"]].itertuples(index=False)]
    log = log.assign(weight=each)
    if "secret" not in of.alike_in:
        log = log.groupby(["public", "place"], as_index=False)[["people", "k"]].sum()
        regions_of = {k: sum(n for key, n in printed.items() if key[:2] == k) or n for k, n in whole_groups.items()}
        log = log.assign(weight=[regions_of[pair] for pair in zip(log["public"], log["place"], strict=True)])
    sums = log.groupby([*of.alike_in, "public"])[["people", "k", "weight"]].sum().unstack("public")
    n, k, w = (sums[name][list(groups)].dropna() for name in ("people", "k", "weight"))
    weight, rate = w.min(axis=1), k / n
    return float((weight * (rate[groups[0]] - rate[groups[1]])).sum() / weight.sum())


def is_true(report: model.PublicReport) -> Headline:
    """Read the headline of a report against its published rules; give it."""
    said = headline(report)
    if said.groups is None:
        assert list(_gaps(report)) == []
        assert said.remains is None
        return said
    (of,) = (of for of in report.alike if (of.attribute, of.groups) == (said.attribute, said.groups))
    for inside in (of.everybody.range, of.everybody.interval):
        assert inside is None or inside[0] > 0 or inside[1] < 0
    assert min(of.everybody.people) >= report.policy.minimum_group_size
    single = [gap for gap in _gaps(report) if not gap.attributes]
    assert not of.attributes or not single
    assert abs(of.everybody.difference) == max(abs(gap.everybody.difference) for gap in single or _gaps(report))
    assert said.in_hundred is not None
    for who, told in zip(of.groups, said.in_hundred, strict=True):
        rate = _rate(report, of, who)
        assert rate is None or abs(told - 100 * rate) < 2.5
    assert (said.id == "about_equal") == (said.in_hundred[0] == said.in_hundred[1])
    if said.id == "gap":
        assert (said.in_hundred[0] < said.in_hundred[1]) == (of.everybody.difference < 0)
        _remains(report, of, said)
    return said


def _gaps(report: model.PublicReport) -> Iterator[model.Alike]:
    for of in report.alike:
        enough = min(of.everybody.people) >= report.policy.minimum_group_size
        if enough and "unknown" not in of.groups and of.everybody.finding in ("higher", "lower"):
            yield of


def _rate(report: model.PublicReport, of: model.Alike, who: str) -> float | None:
    """The rate of a group by the groups of the published rules; None where it is in no column of these."""
    columns = [f"public.{name}" for name in of.attributes or (of.attribute,)]
    groups = rules(report).drop_duplicates("group")
    groups = groups[groups.group_population != ""]
    if not {*columns} <= {*groups}:
        return None
    mine = groups[[joined(values) == who for values in groups[columns].itertuples(index=False)]]
    people = mine.group_population.astype(float)
    return float((people * mine[f"rate.{report.positive}"].astype(float)).sum() / people.sum()) if len(mine) else None


def _remains(report: model.PublicReport, of: model.Alike, said: Headline) -> None:
    left = said.remains
    if left is None:
        assert of.situation is None
        assert of.public is None
        return
    mark = of.situation or of.public
    assert mark is not None
    assert (left.people, left.alike_in, left.few_people) == (mark.people, mark.alike_in, min(mark.people) < 30)
    low, high = left.bounds
    part = mark.difference / of.everybody.difference
    assert low <= part <= high
    if left.id in ("larger", "reversed", "little", "quarter", "half", "three_quarters", "nearly_all"):
        inside = mark.interval or mark.range
        assert inside[0] > 0 or inside[1] < 0
        middle = {"little": 0.0, "quarter": 0.25, "half": 0.5, "three_quarters": 0.75, "nearly_all": 1.0}.get(left.id)
        assert middle is None or (abs(part - middle) <= 0.126 and middle - 0.25 <= low and high <= middle + 0.25)
        assert left.id != "larger" or low > 1
        assert left.id != "reversed" or high < 0
        assert min(2 * n / m for n, m in zip(left.people, of.everybody.people, strict=True)) >= 1
    if mark.alike_in and "" not in of.groups:
        _read_again(report, of, mark)


def _read_again(report: model.PublicReport, of: model.Alike, mark: model.AlikeDifference) -> None:
    """The difference by the chances of announced_rules.csv, where one value of one public attribute is one group."""
    table = rules(report)
    by = f"public.{of.attribute}"
    role = {a.name: a.role for a in report.attributes}
    names = [f"{role[name]}.{name}" for name in mark.alike_in]
    if of.attributes or by not in table or f"announced.{report.positive}" not in table:
        return
    table = table[table.status.isin(["announced", "flattened", "rate_only", "rest"]) & table[by].isin(of.groups)]
    table = table[(~table[names].isin(["", "unknown"])).all(axis=1)]
    if table.empty or not {*of.groups} <= {*table[by]}:
        return
    people = table.population.str.extract(r"(\d+)")[0].astype(float)
    few = table.population.str.contains("under|<|below")
    table = table.assign(people=np.where(few, people // 2, people), k=0.0)
    table["k"] = table.people * pd.to_numeric(table[f"announced.{report.positive}"])
    if table.k.isna().any():
        return
    sums = table.groupby([*names, by])[["people", "k"]].sum().unstack(by).dropna()
    weight = sums["people"].min(axis=1)
    rate = sums["k"] / sums["people"]
    again = float((weight * (rate[of.groups[0]] - rate[of.groups[1]])).sum() / weight.sum())
    assert abs(again - mark.difference) < 0.03, "but for the rounding of rates"
    assert mark.range[0] - 0.03 <= again <= mark.range[1] + 0.03
