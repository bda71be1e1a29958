"""The note on released records: what it says follows from their channel, on two pages at most."""

from __future__ import annotations

import io
import math
from html import unescape

import numpy as np
import pytest
from pypdf import PdfReader

from atr.documents.note import contents
from atr.records.model import PublicRecords
from atr.report.model import Beside
from tests.helpers import released
from tests.helpers.page_text import visible
from tests.helpers.texts import HOSTILE


def page(records: PublicRecords) -> str:
    """The words of the HTML note, with single spaces."""
    return " ".join(visible(contents(records)["note.html"].decode()).split())


def test_it_says_what_was_altered_and_how_often() -> None:
    records = released.records()
    said = page(records)
    assert f"About 37 in 100 values of “outcome” were drawn anew at random; about {100 * records.loss:.0f} in" in said
    assert "It does not show prior offences" in said
    assert "What is not bounded" in said
    assert "finer values than the publisher tells apart" in said, "the bounds are of bins and display names"
    assert f"The file has {records.people:,} scores, a row each" in said
    assert "of at most 1.65" in said, "e to the power of .499, rounded up"


def test_it_says_what_the_system_is_and_what_outcomes_mean() -> None:
    records = released.records(positive="low")
    said = page(records)
    assert records.programme.system.purpose in said
    assert f"About 37 in 100 scores had their outcome drawn anew at random; about {100 * records.loss:.0f} in" in said
    assert "“low” (the favourable outcome) means: was scored low; “raised” means: was scored medium or high." in said


def test_rows_of_groups_that_were_not_altered_are_counted() -> None:
    records = released.records(groups=3)
    first = records.groups[0].model_copy(update={"alpha": 0.0})
    some = records.model_copy(update={"groups": (first, *records.groups[1:])})
    assert f"{first.people} rows are in groups that were not altered" in page(some)
    assert "in groups that were not altered" not in page(records)


def test_one_attribute_and_values_that_are_not_known_are_named() -> None:
    records = released.records(groups=2, attributes=("sex",))
    group = records.groups[0].model_copy(update={"values": {"sex": "unknown"}, "alpha": 0.6})
    said = page(records.model_copy(update={"groups": (group, records.groups[1])}))
    assert "what sex tells of prior offences: a reader sees it anyway" in said
    assert "the group “sex unknown”" in said


def test_nearly_all_is_not_all() -> None:
    nearly = released.records(groups=1, loss=0.4)
    group = nearly.groups[0].model_copy(update={"alpha": 0.996})
    assert "About 99.6 in 100" in page(nearly.model_copy(update={"groups": (group,)}))


def test_totals_are_the_logs_and_vary_as_rows_are_drawn() -> None:
    records = released.records(groups=3)
    rng, draws = np.random.default_rng(0), []
    for _ in range(4000):
        rows = np.zeros(2)
        for group in records.groups:
            for of, chances in zip(group.totals, group.markov, strict=True):
                rows += rng.multinomial(of, chances)
        draws.append(rows)
    assert np.allclose(np.mean(draws, axis=0), records.totals, atol=1)
    assert np.allclose(np.std(draws, axis=0), records.standard_errors, rtol=0.05)
    for total, error in zip(records.totals, records.standard_errors, strict=True):
        assert f"{total:,} {math.ceil(error)}" in page(records)


def test_only_the_most_frequent_of_many_values_are_listed() -> None:
    records = released.records(groups=1)
    totals = tuple(range(40))
    group = records.groups[0].model_copy(update={"totals": totals, "people": sum(totals)})
    numbers = tuple(float(x) for x in range(39))
    said = page(
        records.model_copy(
            update={"groups": (group,), "people": sum(totals), "values": (*numbers, None), "numeric": True}
        )
    )
    assert "the 8 most frequent of 40 values" in said
    assert "missing 39" in said
    assert "38 38" in said
    assert "31 31" not in said


def test_which_group_decides_is_told_of_public_alphas_only() -> None:
    records = released.records()
    last = records.groups[-1]
    assert "Which group needs as much is not told" in page(records)
    own = records.model_copy(update={"groups": (*records.groups[:-1], last.model_copy(update={"alpha": 0.6}))})
    assert f"The largest is that of the group “{', '.join(last.values.values())}” ({last.people} people)" in page(own)
    assert "The publisher set α to 0.372." in page(released.records(bounds={}))


def test_the_best_channel_says_what_is_assumed_of_readers() -> None:
    markov, best = page(released.records()), page(released.records(channel="best"))
    assert "learns nothing more of prior offences: the lot does not depend on it" in markov
    assert "the publisher states that none does" in best
    assert "the lot does not" not in best
    assert "drawn anew" not in best


def test_it_says_what_stands_beside_it() -> None:
    assert "Also published" not in page(released.records())
    beside = (Beside(kind="report", programme=released.records().programme.name, period="2013"),
              Beside(kind="records", programme="other", period="2013-Q1"))  # fmt: skip
    said = page(released.records(beside=beside))
    assert "report on 2013 and released records of 2013-Q1 (other)" in said
    assert "What both tell adds up" in said


def _fullest(records: PublicRecords) -> PublicRecords:
    """The same with an α for each group, many values, and all there is to say."""
    totals = tuple(range(1, 41))
    groups = tuple(
        group.model_copy(update={"totals": totals, "people": sum(totals), "alpha": round(0.3 + g / 1000, 3)})
        for g, group in enumerate(records.groups)
    )
    changes = {
        "groups": groups,
        "people": sum(totals) * len(groups),
        "values": tuple(f"long-winded value {x}" for x in totals),
        "hidden": ("priors_count", "sexual orientation", "health"),
        "not_covered": ("race", "religion", "citizenship"),
        "beside": tuple(Beside(kind="report", programme=name, period="2013") for name in ("compas", "bail", "prisons")),
    }
    return records.model_copy(update=changes)


SHAPES = {
    "usual": released.records,
    "one group": lambda **how: released.records(groups=1, attributes=(), **how),
    "fullest": lambda **how: _fullest(released.records(groups=400, channel="best", **how)),
}


@pytest.mark.parametrize("language", ["en", pytest.param("de", marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_has_two_pages_at_most(language: str, shape: str) -> None:
    records = SHAPES[shape](language=language)
    files = contents(records)
    pdf = PdfReader(io.BytesIO(files["note.pdf"]))
    assert len(pdf.pages) <= 2
    assert pdf.attachments["channel.json"] == [records.to_json().encode()]
    assert len(files["note.html"]) < 300_000


def test_the_same_records_give_the_same_bytes() -> None:
    assert contents(released.records(groups=2)) == contents(released.records(groups=2))


def test_hostile_texts_are_texts() -> None:
    records = released.records(titles={"priors_count": HOSTILE[0], "sex": HOSTILE[1]})
    html = contents(records)["note.html"].decode()
    assert "<script" not in html
    assert HOSTILE[0].split()[0] in unescape(html)
