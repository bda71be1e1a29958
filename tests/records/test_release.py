"""Records from draft to publication: what is drawn again, what is refused, what the register and the site know."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import atr
from atr.dossier.review import review, waiting
from atr.errors import AtrError, ProgrammeError, RefusedError
from atr.programme import load
from atr.programme.periods import parse
from atr.warehouse.connection import Warehouse
from atr.warehouse.ledger import COMMANDS
from atr.warehouse.register import Register
from tests.helpers import records as helper
from tests.helpers import series
from tests.helpers.paths import EXAMPLES


def _approve(path: Path, period: str, **more: Any) -> Path:
    return review(path, period, approve=True, name="A", comment="read", kind="records", **more)[1]


def _edit(path: Path, **changes: Any) -> Path:
    content = yaml.safe_load(path.read_text()) | changes
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first, again = (helper.compas(tmp_path / name, **helper.SCORE) for name in ("first", "again"))
    log = pd.read_csv(again.parent / "compas_decisions.csv", dtype=str, keep_default_na=False)
    log.sample(frac=1, random_state=1).to_csv(again.parent / "compas_decisions.csv", index=False)
    drafts = [atr.release_records(path, "2013-Q1") for path in (first, again)]
    files = [{p.name: p.read_bytes() for p in draft.documents.iterdir()} for draft in drafts]
    assert files[0] == files[1]
    other = helper.compas(tmp_path / "other", seed="0dd5" * 16, **helper.SCORE)
    assert (atr.release_records(other, "2013-Q1").documents / "records.csv").read_bytes() != files[0]["records.csv"]


def test_a_seed_is_drawn_once_and_kept_private(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, seed=None, **helper.SCORE)
    draft = atr.release_records(path, "2013-Q1")
    seed = load(path).seed_path
    assert stat.S_IMODE(seed.stat().st_mode) == 0o600
    drawn = seed.read_text()
    again = atr.release_records(path, "2013-Q1")
    assert not again.new
    assert again.release == draft.release
    assert seed.read_text() == drawn
    assert not any(drawn in file.read_text(errors="replace") for file in draft.documents.iterdir())


def test_rows_without_ids_are_drawn_alike_too(tmp_path: Path) -> None:
    counts = {("women", f"s{i}"): (200, 40 + 60 * i) for i in range(3)}
    content = series.programme(minimum_group_size=10) | {
        "sanitise": {"column": "result", "hide": ["secret"], "max_log_lift": 0.3, "seed": "seed"}
    }
    found = []
    for name, order in (("one", 1), ("two", -1)):
        folder = tmp_path / name
        path = series.write_series(folder, counts, content=content)
        log = pd.read_csv(folder / "log.csv", dtype=str)[::order].drop(columns="id")
        log.to_csv(folder / "log.csv", index=False)
        _edit(path, log={key: value for key, value in content["log"].items() if key != "id"} | {"repeats": True})
        (folder / "seed").write_text(helper.SEED)
        found.append((atr.release_records(path, "2024").documents / "records.csv").read_bytes())
    assert found[0] == found[1]
    summed = tmp_path / "summed"
    path = series.write_series(summed, counts, content=content)
    rows = [
        ("2024-12-06", public, secret, result, n)
        for (public, secret), (people, yes) in counts.items()
        for result, n in (("yes", yes), ("no", people - yes))
    ]
    series.write_rows(summed / "log.csv", ["day", "public", "secret", "result", "n"], rows)
    log_of = {key: value for key, value in content["log"].items() if key != "id"}
    _edit(path, log=log_of | {"counts": "n"})
    (summed / "seed").write_text(helper.SEED)
    draft = atr.release_records(path, "2024")
    assert draft.records.people == 600
    assert (draft.documents / "records.csv").read_bytes() == found[0]
    assert atr.verify(draft.documents) == []


def test_the_file_depends_on_the_hidden_through_alpha_only(tmp_path: Path) -> None:
    """Hidden values are dealt out anew, α stays as the programme says: every byte stays."""
    drafts = []
    for name in ("as it is", "dealt anew"):
        path = helper.compas(tmp_path / name, column="score_text", hide=["race"], alpha=0.3)
        if drafts:
            log = pd.read_csv(path.parent / "compas_decisions.csv", dtype=str, keep_default_na=False)
            log["race"] = log["race"].sample(frac=1, random_state=2).to_numpy()
            log.to_csv(path.parent / "compas_decisions.csv", index=False)
        drafts.append(atr.release_records(path, "2013"))
    for name in ("records.csv", "records.parquet"):
        one, other = ((draft.documents / name).read_bytes() for draft in drafts)
        assert one == other
    said = [draft.records.model_dump(exclude={"before", "after"}) for draft in drafts]
    assert said[0] == said[1]


def test_the_best_channel_changes_less_and_is_not_told(tmp_path: Path) -> None:
    markov = atr.release_records(helper.compas(tmp_path / "markov", **helper.NO_RACE), "2013").records
    path = helper.compas(tmp_path / "best", **helper.NO_RACE, channel="best", reader_knows_x="never")
    draft = atr.release_records(path, "2013")
    best = draft.records
    assert best.loss < markov.loss
    assert best.after == markov.after
    assert not any(group.transition for group in best.groups)
    assert atr.verify(draft.documents) == []


_REFUSED: dict[str, tuple[dict[str, Any], type[AtrError], str]] = {
    "hidden and released": ({"hide": ["score_text"]}, ProgrammeError, "cannot be hidden too"),
    "unknown": ({"hide": ["height"]}, ProgrammeError, "is not one of the attributes"),
    "no bound": ({"max_log_lift": None}, ProgrammeError, "neither a bound"),
    "nothing": ({"max_log_lift": 0.0}, ProgrammeError, "no alpha below 1"),
    "next to nothing": ({"max_log_lift": 1e-6}, ProgrammeError, "no alpha below 1 keeps max_log_lift 1e-06"),
    "number": ({"column": "priors_count", "hide": ["race"]}, ProgrammeError, "numeric: true to release"),
    "best": ({"channel": "best"}, ProgrammeError, "reader_knows_x: never"),
    "itself": ({"column": "copy"}, ProgrammeError, "belongs to one value of priors_count"),
    "values": ({"column": "id2", "numeric": True}, ProgrammeError, "at most 1,000"),
    "codes": ({"column": "code"}, ProgrammeError, "every value in the log is a number"),
}


def _faulty(tmp_path: Path, changes: dict[str, Any]) -> Path:
    """A programme with these changes to what it releases, and a log with the columns that they name."""
    sanitise = {key: value for key, value in (helper.SCORE | changes).items() if value is not None}
    path = helper.compas(tmp_path, seed=None, **sanitise)
    log = pd.read_csv(tmp_path / "compas_decisions.csv", dtype=str, keep_default_na=False)
    log["copy"], log["id2"] = "p" + log["priors_count"], log["id"]
    log["code"] = log["score_text"].map({"Low": "1", "Medium": "2", "High": "3"})
    log.to_csv(tmp_path / "compas_decisions.csv", index=False)
    more = {
        "copy": {"role": "sensitive"},
        "id2": {"role": "sensitive", "bins": [5000]},
        "code": {"role": "sensitive"},
    }
    if changes.get("column") in more:
        attributes = yaml.safe_load(path.read_text())["attributes"]
        _edit(path, attributes=attributes | {changes["column"]: more[changes["column"]]})
    return _edit(path, period={"every": "all", "timezone": "America/New_York"})


@pytest.mark.parametrize("fault", _REFUSED)
def test_a_fault_is_one_message_and_nothing_is_written(fault: str, tmp_path: Path) -> None:
    changes, kind, said = _REFUSED[fault]
    path = _faulty(tmp_path, changes)
    with pytest.raises(kind, match=said) as refused:
        atr.release_records(path)
    assert (refused.value.exit_code, len(str(refused.value).splitlines()) <= 2) == (1, True)
    assert {p.name for p in tmp_path.iterdir()} == {"compas_decisions.csv", "programme.yaml"}


_NOTHING_TO_COUNT = {"period": ("1999", "log.csv"), "rows": (None, "empty"), "column": (None, "other columns")}


@pytest.mark.parametrize("make", [atr.release_records, atr.publish])
@pytest.mark.parametrize("what", _NOTHING_TO_COUNT)
def test_what_cannot_be_counted_leaves_no_folder(what: str, make: Any, tmp_path: Path) -> None:
    period, log = _NOTHING_TO_COUNT[what]
    path = _small(tmp_path)
    header, *rows = (tmp_path / "log.csv").read_text().splitlines()
    changed = {"empty": [header], "other columns": [header.replace("secret", "other"), *rows]}.get(log, [header, *rows])
    (tmp_path / "log.csv").write_text("\n".join(changed) + "\n")
    there = {*tmp_path.iterdir()}
    with pytest.raises(AtrError):
        make(path, period)
    assert {*tmp_path.iterdir()} == there


@pytest.mark.long
@pytest.mark.parametrize("fault", _REFUSED)
def test_check_refuses_a_fault_with_the_same_message(fault: str, tmp_path: Path) -> None:
    changes, kind, _ = _REFUSED[fault]
    path = _faulty(tmp_path, changes)
    with pytest.raises(kind) as checked:
        atr.check(path)
    assert {p.name for p in tmp_path.iterdir()} == {"compas_decisions.csv", "programme.yaml"}
    with pytest.raises(kind) as refused:
        atr.release_records(path)
    assert str(checked.value) == str(refused.value)


def test_records_are_published_beside_reports(tmp_path: Path, quick: None) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    report = atr.publish(path, "2013-Q2")
    assert atr.review(path, "2013-Q2", approve=True, name="A", comment="read")[0].state == "published"
    draft = atr.release_records(path, "2013-Q2")
    assert draft.beside == ("2013-Q2",)
    assert [(of.kind, of.programme, of.period) for of in draft.records.beside] == [("report", "compas", "2013-Q2")]
    assert waiting(load(path), "2013-Q2", kind="records").beside == ("2013-Q2",)
    folder = _approve(path, "2013-Q2")
    assert folder == tmp_path / "site" / "compas" / "2013-Q2" / "records-v1"
    assert [finding.where for finding in atr.verify(folder)] == ["note.pdf"]  # which was not laid out
    known = atr.history(path).set_index("kind")
    assert known.loc["records", "comment"] == "read (beside 2013-Q2: what both tell adds up)"
    assert known.loc["report", "report_sha256"] == report.release.report_sha256
    index = (tmp_path / "site" / "compas" / "index.html").read_text()
    assert "2013-Q2/records-v1/records.csv" in index
    assert "2013-Q2/v1/report.json" in index
    entries = Register(load(path)).entries
    assert [(entry.kind, entry.hidden) for entry in entries] == [("report", ()), ("records", ("priors_count",))]
    year = Register(load(path)).beside(entries[0].log, parse("2013"), "report")
    assert [entry.named(entry.store) for entry in year] == ["2013-Q2 (records)"]


def test_a_report_says_that_records_are_published(tmp_path: Path, quick: None) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    before = atr.publish(path, "2013-Q2")
    assert before.report.beside == ()
    atr.release_records(path, "2013-Q2")
    _approve(path, "2013-Q2")
    draft = atr.publish(path, "2013-Q2")
    assert draft.new, "a draft that waits says so too"
    assert [(of.kind, of.period) for of in draft.report.beside] == [("records", "2013-Q2")]
    said = (draft.documents / "report.html").read_text()
    assert "Of the same people: released records of 2013-Q2. What both tell adds up" in said
    assert atr.verify(draft.documents / "report.json") == []
    assert atr.publish(path, "2013-Q1").report.beside == (), "of other people"
    index = (tmp_path / "site" / "compas" / "index.html").read_text()
    assert "had their outcome drawn anew at random" in index
    assert 'href="2013-Q2/records-v1/note.html"' in index
    assert 'type="text/html" href="2013-Q2/records-v1/note.html"' in (tmp_path / "site/compas/feed.xml").read_text()


def test_other_records_of_the_same_rows_need_consent(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    atr.release_records(path, "2013-Q1")
    _approve(path, "2013-Q1")
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {
        "programme": "other", "store": "var/other", "site": "site/other", "sanitise": helper.NO_RACE}))  # fmt: skip
    draft = atr.release_records(other, "2013")
    assert draft.overlapping == ("compas 2013-Q1 (records)",)
    with pytest.raises(RefusedError, match="What both tell adds up"):
        _approve(other, "2013")
    _approve(other, "2013", despite_overlap=True)
    assert "despite the overlap with compas 2013-Q1 (records)" in atr.history(other)["comment"][0]


def _small(folder: Path, log: dict[str, Any] | None = None, **changes: Any) -> Path:
    """Records of a small log, with ids or without."""
    counts = {("women", f"s{i}"): (200, 40 + 60 * i) for i in range(3)}
    content = series.programme(minimum_group_size=10)
    content["sanitise"] = {"column": "result", "hide": ["secret"], "max_log_lift": 0.3}
    content["log"] = {key: of for key, of in (content["log"] | (log or {})).items() if of is not None}
    path = series.write_series(folder, counts, content=content | changes)
    frame = pd.read_csv(folder / "log.csv", dtype=str)
    frame.assign(number=frame["id"], place="here").to_csv(folder / "log.csv", index=False)
    return path


_OF_BOTH: dict[str, tuple[Any, str]] = {"records": (atr.release_records, "report"), "report": (atr.publish, "records")}


@pytest.mark.parametrize("last", _OF_BOTH)
def test_who_is_published_last_names_the_other(last: Any, tmp_path: Path, quick: None) -> None:
    path, (make, first) = _small(tmp_path), _OF_BOTH[last]
    make(path)
    _OF_BOTH[first][0](path)
    assert not waiting(load(path), "2024", kind=last).changed
    review(path, "2024", approve=True, name="A", comment="read", kind=first)
    assert "published" in waiting(load(path), "2024", kind=last).changed
    with pytest.raises(RefusedError, match=rf"(?s)test-series 2024.*does not name.*Run `{COMMANDS[last]}`"):
        review(path, "2024", approve=True, name="A", comment="read", kind=last)
    draft = make(path)
    assert draft.new
    said = json.loads((draft.documents / draft.release.content_file).read_text())["beside"]
    assert said == [{"kind": first, "programme": "test-series", "period": "2024"}]
    assert not make(path).new
    review(path, "2024", approve=True, name="A", comment="read", kind=last)
    assert not _OF_BOTH[first][0](path).new, "nothing else is said of the period than was published"


def test_records_of_two_programmes_name_each_other(tmp_path: Path) -> None:
    """Consent to an overlap is to one that the draft and its dossier name."""
    path = _small(tmp_path)
    content = yaml.safe_load(path.read_text()) | {"programme": "other", "store": "var/other", "site": "site/other"}
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(content))
    atr.release_records(other)
    atr.release_records(path)
    _approve(path, "2024")
    with pytest.raises(RefusedError, match=r"test-series 2024 \(records\)\), and does not name"):
        _approve(other, "2024", despite_overlap=True)
    draft = atr.release_records(other)
    assert [(of.kind, of.programme) for of in draft.records.beside] == [("records", "test-series")]
    dossier = (draft.dossier / "dossier.html").read_text()
    assert "test-series 2024 (records)" in dossier
    assert "--despite-overlap" in dossier
    with pytest.raises(RefusedError, match="What both tell adds up"):
        _approve(other, "2024")
    _approve(other, "2024", despite_overlap=True)


NO_ID = {"id": None, "repeats": True}
PLACE = series.programme()["attributes"] | {"place": {"role": "public"}}
DRAWN_ANEW: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "other ids": ({}, {"log": {"id": "number"}}),
    "ids that were not there": ({"log": NO_ID}, {}),
    "ids that are gone": ({}, {"log": NO_ID}),
    "another attribute, no ids": ({"log": NO_ID}, {"log": NO_ID, "attributes": PLACE}),
}


@pytest.mark.parametrize("what", DRAWN_ANEW)
def test_rows_told_apart_otherwise_are_not_drawn_again(what: str, tmp_path: Path) -> None:
    first, then = DRAWN_ANEW[what]
    atr.release_records(_small(tmp_path, **first))
    _approve(tmp_path / "programme.yaml", "2024")
    with pytest.raises(RefusedError, match="average the noise away"):
        atr.release_records(_small(tmp_path, **then))


@pytest.mark.parametrize("log", [{}, NO_ID])
def test_an_order_of_attributes_or_one_more_keeps_the_draws(log: dict[str, Any], tmp_path: Path) -> None:
    attributes = series.programme()["attributes"]
    draft = atr.release_records(_small(tmp_path, log))
    rows = (draft.documents / "records.csv").read_bytes()
    _approve(tmp_path / "programme.yaml", "2024")
    turned = dict(reversed(attributes.items()))
    again = atr.release_records(_small(tmp_path, log, attributes=turned if log else turned | {"place": PLACE["place"]}))
    assert again.records.groups[0].totals == draft.records.groups[0].totals
    if log:
        assert (again.documents / "records.csv").read_bytes() == rows
    else:
        assert helper.rows(again.documents)["result"].tolist() == helper.rows(draft.documents)["result"].tolist()


def test_rows_are_not_drawn_with_a_second_seed(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    atr.release_records(path, "2013-Q1")
    _approve(path, "2013-Q1")
    load(path).seed_path.write_text("0dd5" * 16)
    with pytest.raises(RefusedError, match="average the noise away"):
        atr.release_records(path, "2013")
    load(path).seed_path.unlink()
    with pytest.raises(RefusedError, match="average the noise away"):
        atr.release_records(path, "2013")
    assert not load(path).seed_path.exists(), "no other seed takes the place of one that is lost"
    load(path).seed_path.write_text("short")
    with pytest.raises(ProgrammeError, match="holds no seed"):
        atr.release_records(path, "2013")


def test_a_seed_lost_with_the_register_is_missed(tmp_path: Path) -> None:
    path = _small(tmp_path)
    atr.release_records(path)
    _approve(path, "2024")
    load(path).seed_path.unlink()
    load(path).register_path.unlink()
    with pytest.raises(RefusedError, match="average the noise away"):
        atr.release_records(path)


def test_drafts_of_two_seeds_are_not_both_published(tmp_path: Path) -> None:
    path = _small(tmp_path)
    atr.release_records(path)
    other = tmp_path / "other.yaml"
    content = yaml.safe_load(path.read_text()) | {"programme": "other", "store": "var/other", "site": "site/other"}
    content["sanitise"] |= {"seed": "own.seed"}
    other.write_text(yaml.safe_dump(content))
    atr.release_records(other)
    _approve(path, "2024")
    with pytest.raises(RefusedError, match="average the noise away"):
        _approve(other, "2024", despite_overlap=True)


def test_a_group_drawn_anew_leaves_the_others(tmp_path: Path) -> None:
    """In one group a secret of one person needs an α of 1 to three digits; in the other nothing is told."""
    content = series.programme(minimum_group_size=10)
    sanitise = {"column": "result", "hide": ["secret"], "max_log_lift": 0.001}
    for by, alphas in (("group", {"women": 1.0, "men": 0.0}), ("release", None)):
        content["sanitise"] = sanitise | {"alpha_by": by}
        counts = {("women", "s"): (1, 1), ("women", "t"): (300, 30), ("men", "s"): (100, 50), ("men", "t"): (100, 50)}
        path = series.write_series(tmp_path / by, counts, content=content)
        if alphas is None:
            with pytest.raises(ProgrammeError, match=r"no alpha below 1 keeps max_log_lift 0\.001"):
                atr.release_records(path)
        else:
            draft = atr.release_records(path)
            assert {group.values["public"]: group.alpha for group in draft.records.groups} == alphas
            assert atr.verify(draft.documents) == []


def test_no_row_holds_a_formula(tmp_path: Path) -> None:
    content = series.programme(minimum_group_size=10)
    content["sanitise"] = {"column": "secret", "hide": ["public"], "max_log_lift": 0.5}
    content["attributes"]["place"] = {"role": "public"}
    path = series.write_series(tmp_path, {("women", "@SUM(A1)"): (60, 20), ("men", "t"): (60, 20)}, content=content)
    frame = pd.read_csv(tmp_path / "log.csv", dtype=str)
    place = ["=1+1" if i % 2 else "there" for i in range(len(frame))]
    frame.assign(secret=frame["secret"].sample(frac=1, random_state=1).to_numpy(), place=place).to_csv(
        tmp_path / "log.csv", index=False
    )
    draft = atr.release_records(path)
    rows = helper.rows(draft.documents)
    assert ({*rows["place"]}, {*rows["secret"]}) == ({"'=1+1", "there"}, {"'@SUM(A1)", "t"})
    assert atr.verify(draft.documents) == []


def test_a_new_version_replaces_and_withdraws_the_old(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    atr.release_records(path, "2013-Q1")
    old = _approve(path, "2013-Q1")
    _edit(path, sanitise=helper.SCORE | {"max_log_lift": 0.4})
    draft = atr.release_records(path, "2013-Q1")
    assert (draft.new, draft.release.version, draft.overlapping) == (True, 2, ())
    assert draft.replaces
    with pytest.raises(RefusedError, match="publishing this one replaces it"):
        _approve(path, "2013-Q1")
    new = _approve(path, "2013-Q1", replaces=True)
    assert [p.name for p in old.iterdir()] == ["note.html"]
    assert "../records-v2/note.html" in (old / "note.html").read_text()
    assert atr.verify(new) == []


@pytest.mark.parametrize(("edited", "waits"), [(1, True), (9, True), (40, False)])
def test_few_corrections_make_no_new_version(edited: int, waits: bool, tmp_path: Path) -> None:
    """Hidden values alone are corrected: totals stay, α would tell of it."""
    path = _small(tmp_path)
    first = atr.release_records(path)
    old = _approve(path, "2024")
    frame = pd.read_csv(tmp_path / "log.csv", dtype=str)
    corrected = frame[(frame["secret"] == "s0") & (frame["result"] == "no")].index[:edited]
    frame.loc[corrected, "secret"] = "s2"
    frame.to_csv(tmp_path / "log.csv", index=False)
    draft = atr.release_records(path)
    if waits:
        assert (draft.new, draft.release.state, draft.documents, draft.changed) == (False, "published", old, None)
        assert draft.waits[0].said().startswith("women (600 people in the version before, 600 now): too few people")
        return
    assert (draft.new, draft.waits, draft.release.version) == (True, (), 2)
    assert draft.changed is not None
    files = pd.concat([helper.rows(old).value_counts(), helper.rows(draft.documents).value_counts()], axis=1).fillna(0)
    assert draft.changed.rows == abs(files.iloc[:, 0] - files.iloc[:, 1]).sum() / 2
    assert (draft.changed.totals, draft.changed.alphas) == (0, 1)
    assert draft.records.alpha != first.records.alpha
    assert f"{draft.changed.rows} rows, 0 totals and 1 alpha of groups" in (draft.dossier / "dossier.html").read_text()
    with pytest.raises(RefusedError, match="publishing this one replaces it"):
        _approve(path, "2024")


def test_a_changed_draft_is_not_published(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    draft = atr.release_records(path, "2013-Q1")
    (draft.documents / "records.csv").write_text("changed")
    with pytest.raises(AtrError, match=r"(?s)records.csv changed.*run `atr sanitise`"):
        _approve(path, "2013-Q1")


def test_a_draft_of_another_log_is_not_published(tmp_path: Path, quick: None) -> None:
    path = _small(tmp_path)
    atr.release_records(path)
    log = (tmp_path / "log.csv").read_text()
    (tmp_path / "log.csv").write_text(log + "new,2024-12-06,women,s0,yes,new,here\n")
    atr.publish(path)
    with pytest.raises(RefusedError, match=r"(?s)other rows by now.*Run `atr sanitise`"):
        _approve(path, "2024")


def test_a_draft_of_other_terms_is_not_published(tmp_path: Path, quick: None) -> None:
    path = _small(tmp_path)
    atr.release_records(path)
    content = yaml.safe_load(path.read_text())
    loose = content["sanitise"]
    for changed in (loose | {"max_log_lift": 0.1}, loose | {"within": "none"}, loose | {"alpha_by": "group"}, None):
        _edit(path, sanitise=changed)
        with pytest.raises(RefusedError, match=r"`sanitise` of the programme was changed") as refused:
            _approve(path, "2024")
        assert refused.value.exit_code == 3
        assert "Make it again with `atr sanitise`" in str(refused.value)
    _edit(path, sanitise=loose | {"max_log_lift": 0.1})
    atr.release_records(path)
    _approve(path, "2024")


def test_other_words_or_a_copy_of_the_seed_keep_a_draft(tmp_path: Path, quick: None) -> None:
    path = _small(tmp_path)
    atr.release_records(path)
    shutil.copy(load(path).seed_path, tmp_path / "copied.seed")
    content = yaml.safe_load(path.read_text())
    _edit(path, title="Another title", sanitise=content["sanitise"] | {"seed": "copied.seed"})
    _approve(path, "2024")


def test_the_reviewer_sees_who_decided_alpha(tmp_path: Path) -> None:
    draft = atr.release_records(helper.compas(tmp_path, **helper.SCORE), "2013")
    private = json.loads((draft.dossier / "channels.json").read_text())
    worst = max(private["groups"], key=lambda group: group["least_alpha"])
    assert private["deciding_group"] == worst["group"]
    assert worst["least_alpha"] <= draft.records.alpha < worst["least_alpha"] + 0.001
    assert stat.S_IMODE((draft.dossier / "channels.json").stat().st_mode) == 0o600


def test_a_ledger_from_before_records_is_read(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    atr.release_records(path, "2013-Q1")
    with Warehouse.open(load(path)) as warehouse:
        for table in ("releases", "release_events"):
            warehouse.query(f"UPDATE {table} SET kind = NULL")
            warehouse.query(f"ALTER TABLE {table} DROP COLUMN kind")
    assert atr.history(path)["kind"].tolist() == ["report"]
    assert atr.release_records(path, "2013-Q2").release.kind == "records"
    assert sorted(atr.history(path)["kind"]) == ["records", "report"]


def test_records_of_the_mortgage_log_hide_race(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "mortgage", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("var", "site"))
    content = yaml.safe_load((tmp_path / "programme.yaml").read_text())
    hidden = [name for name, of in content["attributes"].items() if of["role"] == "sensitive"]
    sanitise = {"column": content["log"]["outcome"], "hide": hidden[:1], "max_ldp": 1.0}
    path = _edit(tmp_path / "programme.yaml", sanitise=sanitise)
    draft = atr.release_records(path)
    assert draft.records.people == 1989
    assert draft.records.after.ldp is not None
    assert draft.records.after.ldp <= 1.0
    assert draft.records.not_covered == tuple(hidden[1:])
    assert atr.verify(draft.documents) == []
