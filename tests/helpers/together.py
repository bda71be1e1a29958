"""Programmes in which many features meet, their logs, and what is true of these: counted apart from the pipeline."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from atr import ingest
from atr import pipeline as steps
from atr.documents.render import render as render_documents
from atr.dossier import review
from atr.programme import load, periods
from atr.warehouse import coarsening
from atr.warehouse.connection import Warehouse
from tests.helpers import series, whole

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Counts = dict[tuple[str, ...], tuple[int, ...]]
"""For the values of each attribute, as they are in the log, people by outcome."""
Content = dict[str, Any]

ANY = ""
"""The value of an attribute that nothing is told of, or that people in a rest group do not share."""
OUTCOMES = ("approved", "deferred", "refused")
AREAS = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "c2": "C"}
AGES = {"25": "below 40", "50": "40 and more", "": "unknown"}
SECRETS = {"s0": "low", "s1": "mid, or so", "s2": '<b>"high"</b>', "": "unknown"}
OTHERS = {"x": "x", "y": "y"}
SHOWN: tuple[Mapping[str, str], ...] = ({name: name for name in AREAS}, AGES, SECRETS, OTHERS)
TINY = "c2"
"""An area with too few people to be announced under its own name."""


@dataclass(frozen=True)
class Mix:
    """Which features meet in a programme."""

    outcomes: int = 2
    rates: str = "exact"
    promise: str = "delta"
    objective: str = "privacy"
    unattainable: str = "withhold"
    census: str = "no"
    ceilings: str = "one"
    secrets: int = 1
    intersections: str = "none"
    reference: str = "highest"
    legitimate: str = "none"
    coverage: str = "sample"
    individual: str = "none"
    sets: str = "no"
    earlier: str = "no"
    rounding: int = 5
    minimum: int = 10
    digits: int = 3
    seed: int = field(default=0, compare=False)

    @staticmethod
    def of(row: str, seed: int = 0) -> Mix:
        """From one word for each feature."""
        words = [int(word) if word.isdecimal() else word for word in row.split()]
        return Mix(**dict(zip(LEVELS, words, strict=True)), seed=seed)  # type: ignore[arg-type]


LEVELS: dict[str, tuple[Any, ...]] = {
    "outcomes": (2, 3),
    "rates": ("exact", "free"),
    "promise": ("delta", "alpha", "ranges"),
    "objective": ("privacy", "fidelity"),
    "unattainable": ("withhold", "flatten", "coarsen"),
    "census": ("no", "yes"),
    "ceilings": ("one", "values", "set", "both"),
    "secrets": (1, 2),
    "intersections": ("none", "public", "mixed"),
    "reference": ("highest", "largest", "named"),
    "legitimate": ("none", "public", "sensitive"),
    "coverage": ("sample", "whole"),
    "individual": ("none", "variation", "both"),
    "sets": ("no", "yes"),
    "earlier": ("no", "yes"),
    "rounding": (1, 5, 10),
    "minimum": (10, 40),
    "digits": (2, 3, 5),
}
assert [*LEVELS] == [f.name for f in fields(Mix)][:-1]

REFUSED: dict[tuple[tuple[str, Any], tuple[str, Any]], tuple[str, str]] = {
    (("promise", "ranges"), ("outcomes", 3)): ("policy.fidelity", "a file of ranges is for two outcomes"),
    (("unattainable", "coarsen"), ("census", "yes")): ("policy.side_information", "unattainable: coarsen with a file"),
}
"""Pairs of features that do not go together: the key that is named, and what is said."""


def refusal(mix: Mix) -> tuple[str, str] | None:
    """Why these features do not go together, if two of them do not."""
    for pair, words in REFUSED.items():
        if all(getattr(mix, name) == level for name, level in pair):
            return words
    return None


def names(mix: Mix) -> tuple[str, ...]:
    """The attributes, public ones first."""
    return ("area", "age", "secret", "other")[: 2 + mix.secrets]


def programme(mix: Mix) -> Content:
    """The content of the programme file."""
    content = series.programme()
    content["attributes"] = {
        "area": {"role": "public", "protected": True, "title": "Area", "hierarchy": "areas.csv"},
        "age": {"role": "public", "bins": [40], "labels": ["below 40", "40 and more"], "title": "Age"},
        "secret": {"role": "sensitive", "values": {raw: shown for raw, shown in SECRETS.items() if raw}},
        "other": {"role": "sensitive", "title": "Other & more", "protected": True},
    }
    attributes = {name: content["attributes"][name] for name in names(mix)}
    content["attributes"] = attributes
    content["log"] |= {
        "outcomes": {name: [name] for name in (OUTCOMES if mix.outcomes == 3 else ("approved", "refused"))},
        "coverage": mix.coverage,
    }
    policy: Content = {
        **series.OPTIMAL,
        "group_rates": mix.rates, "max_confidence": 0.9, "minimum_group_size": mix.minimum, "digits": mix.digits,
        "unattainable": mix.unattainable, "population_rounding": mix.rounding,
    }  # fmt: skip
    kinds = {"delta": {"delta": 0.7}, "alpha": {"alpha": 0.05}, "ranges": {"ranges": "ranges.csv"}}
    policy["fidelity"] = kinds[mix.promise]
    if mix.objective == "fidelity":
        policy["objective"] = "fidelity"
    if mix.census == "yes":
        policy["side_information"] = {"file": "census.csv", "title": "the census"}
    content["policy"] = policy
    if mix.ceilings in ("values", "both"):
        attributes["other" if mix.secrets > 1 else "secret"]["max_confidence"] = 0.85
    if mix.ceilings in ("set", "both"):
        own = {"max_confidence": 0.88} if mix.ceilings == "set" else {}
        attributes["secret"]["sets"] = {"not low": {"values": [SECRETS["s1"], SECRETS["s2"]], **own}}
    intersections = {"public": [["area", "age"]], "mixed": [["secret", "area"], ["area", "age"]]}
    content["fairness"] = {"parity_tolerance": 0.1}
    if mix.intersections != "none":
        content["fairness"]["intersections"] = intersections[mix.intersections]
    if mix.reference == "largest":
        attributes["area"]["reference"] = {"by": "largest"}
    if mix.reference == "named":
        attributes["area"]["reference"] = "a1"
        attributes["secret"] |= {"protected": True, "reference": "low"}
    if mix.legitimate != "none":
        attributes["age" if mix.legitimate == "public" else "secret"]["legitimate"] = True
    if mix.individual != "none":
        measures = ["total_variation", "relative"][: 1 if mix.individual == "variation" else 2]
        distances = {"age": {"kind": "numeric", "weight": 2.0}, "secret": {"kind": "ordinal", "weight": 0.5}}
        content["fairness"]["individual"] = {"distances": distances, "measures": measures, "tolerance": 0.05}
    if mix.sets == "yes":
        content["influence"] = {"sets": [["age", "secret"], [*reversed(names(mix))]]}
    return content


USUAL = {2023: (("a1", "25"), ("b1", "25"), ("b1", "50")), 2024: (("a1", "25"), ("a1", ""), ("a2", "25"), ("b1", "25"))}
LOPSIDED = {2023: (("a2", "50", "s0"),), 2024: (("b1", "50", "s0"), ("b2", "50", "s1"))}


def drawn(mix: Mix, *, year: int = 2024) -> Counts:
    """The people of one year: some groups to announce, one too small, some of almost one kind, some without a value."""
    random = np.random.default_rng([mix.seed, year])
    others = [*OTHERS][: mix.secrets] if mix.secrets > 1 else [""]
    people: dict[tuple[str, ...], int] = {(TINY, "25", "s0", "x"): 2, ("a1", "25", "", "x"): int(random.integers(3, 9))}
    for place in USUAL[year]:
        people |= {(*place, s, o): int(random.integers(14, 30)) for s, o in product(("s0", "s1", "s2"), others)}
    for area, age, most in LOPSIDED[year]:
        few = "s2" if most == "s0" else "s0"
        people |= {(area, age, most, others[0]): int(random.integers(80, 120)), (area, age, few, others[-1]): 2}
    counts: Counts = {}
    for key, n in people.items():
        certain = 0.0 if mix.promise == "alpha" else 0.1  # a promise of parts of a chance leaves 0 and 1 as they are
        chance = random.choice(
            [0.0, 1.0, 0.3, 0.55, 0.2 + 0.6 * float(random.random())], p=[certain, certain, 0.3, 0.3, 0.4 - 2 * certain]
        )
        rest = (1 - chance) * random.dirichlet([2.0] * (mix.outcomes - 1))
        counts[key[: 2 + mix.secrets]] = tuple(random.multinomial(n, [chance, *rest]).tolist())
    return counts


def otherwise_decided(counts: Counts, inside: Sequence[tuple[str, str]], *, keep_rates: bool, seed: int) -> Counts:
    """The same people with other decisions in some areas and ages; as many of each outcome where rates are kept."""
    random = np.random.default_rng(seed)
    changed = dict(counts)
    for place in inside:
        keys = [key for key in counts if key[:2] == place]
        decided = np.repeat(np.arange(len(counts[keys[0]])), np.sum([counts[key] for key in keys], axis=0))
        if keep_rates:
            random.shuffle(decided)
        else:
            decided[:] = int(decided.max() == 0)  # everybody has the first outcome, or the second
        ends = np.cumsum([0, *(sum(counts[key]) for key in keys)])
        for key, first, end in zip(keys, ends, ends[1:], strict=False):
            changed[key] = tuple(np.bincount(decided[first:end], minlength=len(counts[key])).tolist())
    return changed


def shown(key: tuple[str, ...]) -> tuple[str, ...]:
    """Values of the log as reports show them."""
    return tuple(of[value] for of, value in zip(SHOWN, key, strict=False))


def _ranges(mix: Mix, counts: Counts) -> Iterator[tuple[Any, ...]]:
    for key in product(*SHOWN[: 2 + mix.secrets]):
        people = counts.get(key)
        true = people[0] / sum(people) if people else 0.5
        yield (*shown(key), max(0.0, round(true - 0.4, 1)), min(1.0, round(true + 0.4, 1)))
    for area in [*dict.fromkeys(AREAS.values()), "all"]:
        for rest in product(*SHOWN[1 : 2 + mix.secrets]):
            yield (area, *shown(("a1", *rest))[1:], 0.0, 1.0)


@dataclass(frozen=True)
class Published:
    """The documents of a report, and what is known of the log it is about."""

    mix: Mix
    counts: Counts
    documents: Path
    outcome: steps.Draft | None = None
    previous: Path | None = None

    @cached_property
    def report(self) -> Content:
        content: Content = json.loads((self.documents / "report.json").read_text(encoding="utf-8"))
        return content

    @cached_property
    def truth(self) -> Truth:
        return Truth(self.report, self.counts)


def write(folder: Path, mix: Mix, years: Mapping[int, Counts], content: Content | None = None) -> Path:
    """All files of a series; the programme file is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    attributes = names(mix)
    listed = ("approved", "refused") if mix.outcomes == 2 else OUTCOMES
    rows = [
        (f"{year}-12-06", *key, outcome)
        for year, counts in years.items()
        for key, people in counts.items()
        for outcome, times in zip(listed, people, strict=True)
        for _ in range(times)
    ]
    series.write_rows(
        folder / "log.csv", ["id", "day", *attributes, "result"], [(f"{i:06d}", *row) for i, row in enumerate(rows)]
    )
    (folder / "areas.csv").write_text("".join(f"{fine},{area},all\n" for fine, area in AREAS.items()))
    latest = years[max(years)]
    series.write_rows(folder / "ranges.csv", [*attributes, "lower", "upper"], _ranges(mix, latest))
    random = np.random.default_rng([mix.seed, 1])
    every = sorted({key for counts in years.values() for key in counts})
    people = {key: max(sum(counts.get(key, ())) for counts in years.values()) for key in every}
    series.write_rows(
        folder / "census.csv",
        [*attributes, "people"],
        [(*shown(key), 9 * n + int(random.integers(0, 2 * n + 1))) for key, n in people.items()],
    )
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(content or programme(mix), allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


def publish(folder: Path, mix: Mix, counts: Counts | None = None) -> Published:
    """The whole pipeline; where there is an earlier report, it is published before."""
    counts = counts or drawn(mix)
    years = {2023: earlier(mix)} if mix.earlier == "yes" else {}
    path = write(folder, mix, {**years, 2024: counts})
    previous = None
    if years:
        series.publish(path, "2023")
        _, previous = review.review(load(path), "2023", approve=True, name="R. Viewer", comment="read it")
    outcome = series.publish(path, "2024")
    return Published(mix, counts, outcome.documents, outcome, previous)


def made(folder: Path, mix: Mix, counts: Counts | None = None) -> Published:
    """The documents without store, dossier and earlier report, which take most of the time."""
    counts = counts or drawn(mix)
    of = load(write(folder, mix, {2024: counts}))
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, of)
        regions = coarsening.aggregate(warehouse, of, periods.parse("2024"))
    solved = whole.solved(of, regions)
    announced = whole.announced(of, regions, solved)
    report = whole.report(of, regions, announced)
    assert whole.failed_checks(of, regions, solved, announced, report) == []
    (folder / "documents").mkdir()
    render_documents(report, folder / "documents")
    return Published(replace(mix, earlier="no"), counts, folder / "documents")


def earlier(mix: Mix) -> Counts:
    """The people of the year before. Where chances have ranges, these hold then as well: rules are as they will be."""
    before = drawn(mix, year=2023)
    if mix.promise != "ranges":
        return before
    now = drawn(mix)
    same = {}
    for key, people in before.items():
        chance = now[key][0] / sum(now[key]) if key in now else 0.5
        approved = round(chance * sum(people))
        same[key] = (approved, sum(people) - approved)
    return same


def exact_populations(published: Published, path: Path) -> Path:
    """The file of exact populations that verify takes."""
    truth = published.truth
    columns = [truth.values[name] for name in names(published.mix)]
    rows = zip(*columns, truth.people.sum(axis=1).tolist(), strict=True)
    series.write_rows(path, [*names(published.mix), "population"], rows)
    return path


# --- what is true


class Truth:
    """The announced regions as a report prints them, and their people as counted.

    Parameters
    ----------
    report
        The content of its report.json.
    counts
        The people of its period.
    """

    def __init__(self, report: Content, counts: Counts) -> None:
        self.report = report
        self.outcomes = (report["positive"], *(o for o in report["outcomes"] if o != report["positive"]))
        attributes = [a["name"] for a in report["attributes"]]
        groups = [g for g in report["groups"] if g["status"] != "withheld"]
        self.regions = [(group, region) for group in groups for region in group["regions"] or [_whole(group)]]
        self.values = {
            name: np.array([(g["public"] | r["sensitive"]).get(name, ANY) for g, r in self.regions], dtype=object)
            for name in attributes
        }
        sensitive = [a["name"] for a in report["attributes"] if a["role"] == "sensitive"]
        place = {
            (g["id"], *(r["sensitive"].get(name, ANY) for name in sensitive)): i
            for i, (g, r) in enumerate(self.regions)
        }
        self.people = np.zeros((len(self.regions), len(self.outcomes)), dtype=np.int64)
        self.places: dict[tuple[str, str], str] = {}
        """The status of the group that an area and age of the log is announced in, if it is in one."""
        members: dict[str, set[tuple[str, str]]] = {}
        for key, people in counts.items():
            if (group := self._group_of(key)) is not None:
                secrets = shown(key)[2:] if group["regions"] else (ANY,) * len(sensitive)
                self.people[place[group["id"], *secrets]] += people
                self.places[key[0], key[1]] = group["status"]
                members.setdefault(group["id"], set()).add((key[0], key[1]))
        assert all(len(members[g["id"]]) == g.get("joined", 1) for g in groups), "who is in which group"
        self.flat = np.array([not group["regions"] for group, _ in self.regions])
        self.complete = ~self.flat & np.all([self.values[a["name"]] != ANY for a in report["attributes"]], axis=0)
        """(n,) which regions have a value of every attribute."""
        self.printed = np.array([_number(r["population"]) for _, r in self.regions], dtype=np.int64)
        chances = [region["announced"] or group["rate"] for group, region in self.regions]
        self.chance = np.array([[of[o] for o in self.outcomes] for of in chances])
        self.group = np.array([group["id"] for group, _ in self.regions], dtype=object)

    def _group_of(self, key: tuple[str, ...]) -> Content | None:
        """The group that an area and age of the log are announced in; of rest groups that of most shared values."""
        area, age = shown(key)[:2]
        areas = [area, AREAS[area], "all"] if self.report["policy"]["unattainable"] == "coarsen" else [area]
        for named in areas:
            for group in self.report["groups"]:
                if group["public"] == {"area": named, "age": age} and group["status"] != "rest":
                    return None if group["status"] == "withheld" else dict(group)
        rest = [g for g in self.report["groups"] if g["status"] == "rest"]
        for group in sorted(rest, key=lambda g: -len(g["public"])):
            met = [group["public"]["area"]] if "area" in group["public"] else group["mixed"]["area"]
            if {*areas} & {*met} and group["public"].get("age", age) == age:
                return dict(group)
        return None

    def labels(self, attribute: str) -> list[str]:
        """(n,) the row of each region in comparisons by one attribute."""
        by = next((by for by in self.report["compared"] if by["attributes"] == [attribute]), {})
        found = []
        for (group, _), own in zip(self.regions, self.values[attribute], strict=True):
            met, least = ([own], 1) if own != ANY else (group.get("mixed", {}).get(attribute, []), 2)
            rows = [row["label"] for row in by.get("rows", ()) if len({*row["values"]} & {*met}) >= least]
            found.append(rows[0] if rows else own)
        return found

    @property
    def true(self) -> Floats:
        """(n, outcomes) the true chances."""
        true: Floats = self.people / self.people.sum(axis=1, keepdims=True)
        return true

    def inside(self, attributes: Sequence[str], label: str, condition: Mapping[str, str]) -> npt.NDArray[np.bool_]:
        """(n,) which regions a group of a comparison is of."""
        if len(attributes) == 1:  # within classes, rows of rest groups count for nothing
            labels = list(self.values[attributes[0]]) if condition else self.labels(attributes[0])
        else:
            parted = zip(*(self.values[name] for name in attributes), strict=True)
            labels = [ANY if ANY in parts else _joined(parts) for parts in parted]
        found = np.array([own == label for own in labels])
        for name, value in condition.items():
            found &= self.values[name] == value
        return found

    def rates(self, inside: npt.NDArray[np.bool_]) -> Floats:
        """(outcomes,) the true rates of the people in some regions."""
        people = self.people[inside].sum(axis=0)
        rates: Floats = people / people.sum()
        return rates

    def comparison(self, entry: Content) -> float:
        """The true figure of a comparison within a class, or of everybody."""
        attributes = entry.get("attributes") or [entry["attribute"]]
        a, b = (self.rates(self.inside(attributes, label, entry["condition"])) for label in entry["groups"])
        if entry["measure"] == "p_percent_rule":
            x, y = (float(rates[self.outcomes.index(entry["outcome"])]) for rates in (a, b))
            return x / y if y else 1.0 if x == 0 else math.inf
        return float(np.abs(a - b).sum() / 2)

    def overall(self, entry: Content) -> float:
        """The true figure of conditional parity over all classes, by the printed people of each."""
        classes = [
            e for e in self.report["fairness"]
            if e["measure"] == entry["measure"] and e["condition"] and e["groups"] == entry["groups"]
            and e["attribute"] == entry["attribute"]
        ]  # fmt: skip
        enough = [e for e in classes if min(e["people"]) >= self.report["policy"]["minimum_group_size"]] or classes
        assert entry["classes"] == [len(enough), len(classes)]
        true = [self.comparison(e) for e in enough]
        if entry["summary"] == "worst_class":
            return max(true)
        return float(np.average(true, weights=[sum(e["people"]) for e in enough]))

    def individual(self, distance: str, least: int) -> float:
        """The true largest excess of any two regions of so many printed people at least; 0 where there are no two."""
        declared = self.report["policy"]["individual"]["distances"]
        apart = np.zeros((len(self.regions),) * 2)
        for name, of in declared.items():
            places = of.get("positions", {})
            width = max(places.values(), default=0) - min(places.values(), default=0)
            column = self.values[name]
            for i, j in product(range(len(column)), repeat=2):
                a, b = column[i], column[j]
                on_scale = a in places and b in places
                apart[i, j] += of["weight"] * (abs(places[a] - places[b]) / width if on_scale else float(a != b))
        apart /= max(sum(of["weight"] for of in declared.values()), 1e-300)
        true = self.true
        if distance == "total_variation":
            outcomes = np.abs(true[:, None] - true[None]).sum(axis=2) / 2
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                outcomes = np.nan_to_num(np.abs(np.log(true[:, None]) - np.log(true[None])), nan=0.0, posinf=np.inf)
            outcomes = outcomes.max(axis=2)
        among = np.flatnonzero((self.printed >= least) & self.complete)
        return max(0.0, float((outcomes - apart)[np.ix_(among, among)].max(initial=0.0)))

    def confidences(self, people: Ints) -> dict[str, dict[tuple[str, str | None], float]]:
        """For each announced group, how sure a reader can be of each sensitive attribute's values, and each named set.

        Parameters
        ----------
        people
            (n,) people of each region, as the reader knows them.
        """
        found: dict[str, dict[tuple[str, str | None], float]] = {}
        joint = people[:, None] * self.chance
        for group in dict.fromkeys(self.group):
            within = self.group == group
            totals = joint[within].sum(axis=0)
            of_group = found.setdefault(group, {})
            for attribute in self.report["attributes"]:
                if attribute["role"] == "sensitive":
                    kinds: list[tuple[str | None, set[str]]] = [
                        (None, {v}) for v in set(self.values[attribute["name"]])
                    ]
                    kinds += [(name, {*values}) for name, values in attribute["sets"].items()]
                    for of_set, members in kinds:
                        rows = within & np.array([v in members for v in self.values[attribute["name"]]])
                        sure = joint[rows].sum(axis=0)[totals > 0] / totals[totals > 0]
                        label = attribute["name"], of_set
                        of_group[label] = max(of_group.get(label, 0.0), float(sure.max()))
        return found

    def below_ceiling(self) -> list[str]:
        """The announced groups that tell of their regions: there the ceiling holds."""
        return [g["id"] for g in self.report["groups"] if g["regions"]]


def _whole(group: Content) -> Content:
    """The only region of a group that shows its rates alone."""
    return {"sensitive": {}, "population": group["population"], "announced": None}


def _number(people: int | dict[str, int]) -> int:
    """What a printed number of people counts as in calculations."""
    return people if isinstance(people, int) else people["below"] // 2


def _joined(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return ", ".join('"' + p.replace('"', '""') + '"' if "," in p or '"' in p else p for p in parts)


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a published CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def covered(mix: Mix) -> set[tuple[tuple[str, Any], ...]]:
    """The pairs of levels that a mix has."""
    return {tuple(sorted([(a, getattr(mix, a)), (b, getattr(mix, b))])) for a in LEVELS for b in LEVELS if a < b}


def pairs() -> set[tuple[tuple[str, Any], ...]]:
    """The pairs of levels that go together."""
    refused = {tuple(sorted(pair)) for pair in REFUSED}
    return {
        tuple(sorted([(a, x), (b, y)])) for a in LEVELS for b in LEVELS if a < b for x in LEVELS[a] for y in LEVELS[b]
    } - refused
