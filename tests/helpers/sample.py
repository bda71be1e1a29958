"""Synthetic public reports of many shapes. Their numbers are plausible; no mechanism made them."""

from __future__ import annotations

import csv
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from atr.report import derived
from atr.report.individual import with_individual
from atr.report.model import (
    AttributeDistance,
    AttributeInfo,
    ComparedBy,
    Coverage,
    DataQuality,
    Fairness,
    FidelityInfo,
    Group,
    GroupCounts,
    IndividualPolicy,
    Leakage,
    OutcomeDistance,
    PeriodInfo,
    PolicyInfo,
    Privacy,
    ProgrammeInfo,
    Provenance,
    PublicReport,
    Publisher,
    Region,
    System,
)
from atr.report.notes import fidelity_notes
from tests.helpers.paths import ROOT
from tests.helpers.texts import HOSTILE

COMPAS = ROOT / "examples" / "compas" / "compas_decisions.csv"

Key = tuple[str, ...]
Counts = dict[tuple[Key, str], tuple[int, float]]
"""For each public key and sensitive value: people, share of the positive outcome."""


def attribute(name: str, title: str, values: Iterable[str], role: str = "public", **flags: bool) -> AttributeInfo:
    known: dict[str, Any] = {"protected": False, "legitimate": False, **flags}
    return AttributeInfo(name=name, title=title, role=role, values=tuple(values), **known)  # type: ignore[arg-type]


def report(
    attributes: tuple[AttributeInfo, ...],
    counts: Counts,
    *,
    references: dict[str, str] | None = None,
    outcomes: tuple[str, str] = ("low", "raised"),
    minimum: int = 50,
    ceiling: float = 0.75,
    title: str = "Risk scores before trial",
    spread: float = 0.0,
    **changes: Any,
) -> PublicReport:
    """A public report of these counts, with every group announced that is large enough."""
    public = [a for a in attributes if a.role == "public"]
    (hidden,) = [a for a in attributes if a.role == "sensitive"]
    ranks = [{v: i for i, v in enumerate(a.values)} for a in public]
    keys = sorted({key for key, _ in counts}, key=lambda k: [r[v] for r, v in zip(ranks, k, strict=True)])
    groups, small, kept = [], 0, {}
    confidence = prior = 0.0
    for key in keys:
        cells = {v: counts[key, v] for v in hidden.values if (key, v) in counts}
        people = sum(n for n, _ in cells.values())
        named = {a.name: v for a, v in zip(public, key, strict=True)}
        name = "/".join(key)
        if people < minimum:
            small += 1
        elif max(n for n, _ in cells.values()) / people > ceiling:
            groups.append(Group(id=name, public=named, status="withheld"))
        else:
            kept[key] = people, sum(n * r for n, r in cells.values()) / people
            rate = round(kept[key][1], 2)
            regions = tuple(
                Region(
                    sensitive={hidden.name: v},
                    population=rounded(n),
                    announced={outcomes[0]: round(r, 3), outcomes[1]: round(1 - round(r, 3), 3)},
                )
                for v, (n, r) in cells.items()
            )
            groups.append(
                Group(
                    id=name, public=named, status="announced", population=rounded(people), regions=regions,
                    rate={outcomes[0]: rate, outcomes[1]: round(1 - rate, 2)},
                )
            )  # fmt: skip
            prior = max(prior, max(n for n, _ in cells.values()) / people)
            confidence = max(confidence, prior + 0.04)
    everybody = sum(n for n, _ in counts.values())
    announced = sum(n for n, _ in kept.values())
    share = sum(n * r for n, r in kept.values()) / announced if announced else None
    hidden = next(a for a in attributes if a.role == "sensitive")
    known: dict[str, Any] = {
        "programme": ProgrammeInfo(
            name="compas",
            title=title,
            language="en",
            publisher=Publisher(
                name="Example publisher", contact="transparency@example.org", website="https://example.org"
            ),
            system=System(
                name="COMPAS",
                version="2013",
                purpose="A commercial program scores how likely a person who was arrested is to offend again. The "
                "score is one of the things a judge may read before deciding on release before trial.",
                human_review="The score does not decide. A judge does, and may set it aside.",
                appeal="A person can ask the court for the score and its inputs, and can contest both through counsel.",
            ),
        ),
        "period": PeriodInfo(label="2013", start="2013-01-01", end="2014-01-01", timezone="America/New_York"),
        "version": 1,
        "date": "2014-02-12",
        "policy": PolicyInfo(
            mechanism="optimal", group_rates="exact", objective="privacy",
            fidelity={"delta": 0.9}, max_confidence=ceiling, minimum_group_size=minimum, unattainable="withhold",
            digits=3, population_rounding=5, side_information="population", four_fifths=0.8, parity_tolerance=0.05,
        ),
        "outcomes": outcomes,
        "positive": outcomes[0],
        "attributes": attributes,
        "privacy": Privacy(
            max_confidence=min(1.0, math.ceil(confidence * 1000) / 1000) if announced else None,
            prior_confidence=math.ceil(prior * 1000) / 1000 if announced else None,
            min_uncertainty=math.floor(-math.log(min(1, confidence)) * 1000) / 1000 if announced else None,
            binding_group=next((g.id for g in groups if g.status == "announced"), None),
            binding_set={hidden.name: hidden.values[0]} if announced else None,
            leakage=Leakage(ldp=None, log_lift=1.0, likeness_gain=1.234, min_entropy_leakage=0.5)
            if announced
            else None,
        ),
        "fidelity": FidelityInfo(kind="delta", level=0.9, largest_change=0.1),
        "coverage": Coverage(
            decisions=everybody,
            announced_share=round(announced / everybody, 2) if everybody else 0.0,
            groups=GroupCounts(
                announced=len(kept), withheld_for_size=small, withheld=sum(g.status == "withheld" for g in groups)
            ),
            rate=None if share is None else {outcomes[0]: round(share, 2), outcomes[1]: round(1 - round(share, 2), 2)},
        ),
        "groups": tuple(groups),
        "compared": tuple(
            ComparedBy(attribute=a.name, attributes=(a.name,), reference=of, chosen=None if of is None else "named")
            for a in public
            if a.protected
            for of in [_reference(public, kept, references or {}, a)]
        ),
        "fairness": tuple(comparisons(public, kept, references or {}, outcomes, spread)),
        "data_quality": DataQuality(
            rows_read=everybody + 25, decisions=everybody, duplicates=10, corrections=5, quarantined=10,
            unknown={a.name: 0.01 for a in public[:1]},
        ),
        "notes": (),
        "provenance": Provenance(atr="0.1.0"),
    }  # fmt: skip
    made = PublicReport(**{**known, **changes})
    for name in ("alike", "influence", "surrogate"):
        made = made.model_copy(update={name: derived.DERIVED_FIELDS[name](made)})
    return made if "notes" in changes else made.model_copy(update={"notes": fidelity_notes(made)})


def comparisons(
    public: list[AttributeInfo],
    kept: dict[Key, tuple[int, float]],
    references: dict[str, str],
    outcomes: tuple[str, str],
    spread: float,
) -> Iterator[Fairness]:
    """Comparisons with the reference, then the other pairs, as the measuring side of the package orders them."""
    legitimate = [i for i, a in enumerate(public) if a.legitimate]
    for i, a in enumerate(public):
        if not a.protected:
            continue
        rates = _rates(kept, i)
        if len(rates) < 2:
            continue
        reference = _reference(public, kept, references, a)
        pairs = [(v, reference) for v in rates if v != reference]
        pairs += [(y, x) for x, y in itertools.combinations(rates, 2) if reference not in (x, y)]
        for x, y in pairs:
            yield from _compared(a, x, y, reference, rates, outcomes, spread)
        for klass in dict.fromkeys(tuple(k[j] for j in legitimate) for k in kept) if legitimate else ():
            inside = {k: v for k, v in kept.items() if tuple(k[j] for j in legitimate) == klass}
            within = _rates(inside, i)
            for x in within:
                if x != reference and reference in within:
                    condition = {public[j].name: v for j, v in zip(legitimate, klass, strict=True)}
                    yield _parity(a, x, reference, reference, within, spread, condition)


def _reference(
    public: list[AttributeInfo], kept: dict[Key, tuple[int, float]], references: dict[str, str], of: AttributeInfo
) -> str | None:
    """The named group or that of the highest rate; None where there are no two."""
    rates = _rates(kept, public.index(of))
    return None if len(rates) < 2 else references.get(of.name) or max(rates, key=lambda v: rates[v][1])


def _rates(kept: dict[Key, tuple[int, float]], i: int) -> dict[str, tuple[int, float]]:
    people: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for key, (n, rate) in kept.items():
        people[key[i]] += n
        total[key[i]] += n * rate  # type: ignore[assignment]
    return {v: (people[v], total[v] / people[v]) for v in people}


def _compared(
    a: AttributeInfo, x: str, y: str, reference: str, rates: dict[str, tuple[int, float]], outcomes: Key, spread: float
) -> Iterator[Fairness]:
    (n, r), (m, s) = rates[x], rates[y]
    for outcome, top, bottom, line in ((outcomes[0], r, s, 0.8), (outcomes[1], 1 - r, 1 - s, None)):
        low = None if not bottom else max(0.0, round((top - spread) / (bottom + spread), 3))
        high = None if bottom <= spread else round((top + spread) / (bottom - spread), 3)
        value = round(top / bottom, 3) if bottom else None
        verdict = None
        if line is not None:
            met = low is not None and high is not None and low >= line and high <= 1 / line
            verdict = "met" if met else "not_met" if high is not None and high < line else "cannot_tell"
        yield Fairness(
            measure="p_percent_rule", attribute=a.name, groups=(x, y), reference=reference, outcome=outcome,
            value=value, range=(low, high), threshold=line, verdict=verdict,  # type: ignore[arg-type]
            people=(rounded(n), rounded(m)), rates=(round(r, 2), round(s, 2)),
        )  # fmt: skip
    yield _parity(a, x, y, reference, rates, spread)


def _parity(
    a: AttributeInfo,
    x: str,
    y: str,
    reference: str,
    rates: dict[str, tuple[int, float]],
    spread: float,
    condition: dict[str, str] | None = None,
) -> Fairness:
    (n, r), (m, s) = rates[x], rates[y]
    value = round(abs(r - s), 3)
    low, high = round(max(0.0, value - 2 * spread), 3), round(value + 2 * spread, 3)
    return Fairness(
        measure="conditional_statistical_parity" if condition else "statistical_parity", attribute=a.name,
        groups=(x, y), reference=reference, condition=condition or {}, outcome=None, value=value, range=(low, high),
        threshold=0.05, verdict="met" if high <= 0.05 else "not_met" if low > 0.05 else "cannot_tell",
        people=(rounded(n), rounded(m)),
        rates=(round(r, 2), round(s, 2)),
    )  # fmt: skip


def alike(
    report: PublicReport, *, measures: tuple[OutcomeDistance, ...] = ("total_variation",), tolerance: float = 0.0
) -> PublicReport:
    """The report with individual fairness: sensitive values by their order, protected ones not counted."""
    declared = {
        a.name: AttributeDistance(
            kind="ordinal" if a.role == "sensitive" else "nominal",
            weight=0 if a.protected else 1,
            positions={v: float(i) for i, v in enumerate(a.values)} if a.role == "sensitive" else {},
        )
        for a in report.attributes
    }
    policy = IndividualPolicy(distances=declared, measures=measures, tolerance=tolerance)
    measured = report.model_copy(update={"policy": report.policy.model_copy(update={"individual": policy})})
    return measured.model_copy(update={"fairness": with_individual(measured)})


def rounded(people: int) -> int:
    return 5 * round(people / 5)


def compas(**changes: Any) -> PublicReport:
    """The COMPAS log of 2013, unaltered, in the shape of a report."""
    ages = {"Less than 25": "under 25", "25 - 45": "25 to 45", "Greater than 45": "over 45"}
    charges = {"F": "felony", "M": "misdemeanour"}
    priors = ("none", "1 to 3", "4 to 10", "over 10")
    people: Counter[tuple[Key, str]] = Counter()
    low: Counter[tuple[Key, str]] = Counter()
    with COMPAS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["compas_screening_date"].startswith("2013"):
                n = int(row["priors_count"])
                key = (
                    (row["sex"], ages[row["age_cat"]], row["race"], charges[row["c_charge_degree"]]),
                    priors[(n >= 1) + (n >= 4) + (n >= 11)],
                )
                people[key] += 1
                low[key] += row["score_text"] == "Low"
    races = sorted({key[2] for key, _ in people})
    attributes = (
        attribute("sex", "sex", ("Female", "Male"), protected=True),
        attribute("age_cat", "age", ages.values()),
        attribute("race", "race", races, protected=True),
        attribute("c_charge_degree", "charge", charges.values(), legitimate=True),
        attribute("priors_count", "prior offences", priors, role="sensitive"),
    )
    counts = {key: (n, low[key] / n) for key, n in people.items()}
    known = {"references": {"sex": "Male", "race": "Caucasian"}, "minimum": 50, "ceiling": 0.72, **changes}
    return report(attributes, counts, **known)


def grid(
    public: tuple[int, ...] = (4, 5, 10),
    sensitive: int = 4,
    *,
    name: str = "{kind} {i}",
    people: int = 240,
    **changes: Any,
) -> PublicReport:
    """A report on the product of this many public values, each with this many sensitive values.

    Parameters
    ----------
    public
        The number of values of each public attribute; the first is protected, the last legitimate.
    sensitive
        The number of sensitive values.
    name
        How a value is called, with ``{kind}`` and ``{i}``.
    people
        About how many are in a group.
    """
    kinds = [f"attribute_{i}" for i in range(len(public))]
    values = [[name.format(kind=f"value {chr(97 + k)}", i=i) for i in range(n)] for k, n in enumerate(public)]
    hidden = [name.format(kind="level", i=i) for i in range(sensitive)]
    attributes = (
        *(
            attribute(kind, f"attribute {i + 1}", v, protected=i == 0, legitimate=i == len(public) - 1 and i > 0)
            for i, (kind, v) in enumerate(zip(kinds, values, strict=True))
        ),
        attribute("level", "level", hidden, role="sensitive"),
    )
    counts: Counts = {}
    for i, key in enumerate(itertools.product(*values)):
        for j, value in enumerate(hidden):
            if (i + j) % 11 or sensitive == 1:
                counts[key, value] = max(1, people // sensitive + (i * 7 + j * 5) % 13), (37 * i + 61 * j) % 1001 / 1000
    return report(attributes, counts, **{"title": "Decisions on a grid", **changes})


def none_announced(**changes: Any) -> PublicReport:
    """A report in which no group is announced."""
    return grid((3, 4), 2, people=100, **{"minimum": 1000, **changes})


def hostile() -> PublicReport:
    """A report whose every supplied text is hostile."""
    values = [f"{text} {i}" for i, text in enumerate(HOSTILE)]
    attributes = (
        attribute("kind", HOSTILE[0], values, protected=True),
        attribute("=cmd|' /C calc'!A0", HOSTILE[2], ("=1+1", "+", "@SUM(A1)"), legitimate=True),
        attribute("level", HOSTILE[3], (HOSTILE[4], "-"), role="sensitive"),
    )
    counts: Counts = {}
    for i, (kind, other) in enumerate(zip(values, itertools.cycle(attributes[1].values))):
        for j, level in enumerate(attributes[2].values):
            counts[(kind, other), level] = 60 + 3 * i + j, (13 * i + 7 * j) % 101 / 100
    plain = report(attributes, counts, outcomes=(HOSTILE[1], "-"), title=" ".join(HOSTILE))
    programme = plain.programme.model_copy(
        update={
            "publisher": Publisher(name=HOSTILE[0], contact=HOSTILE[1], website="javascript:document.title='run'"),
            "system": System(name=HOSTILE[3], version=HOSTILE[5], purpose=HOSTILE[0], appeal=HOSTILE[1]),
        }
    )
    return plain.model_copy(update={"programme": programme})
