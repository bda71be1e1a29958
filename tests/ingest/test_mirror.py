"""The warehouse mirrors the log: what is counted is what a fresh reading of the log would count."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.errors import AtrError, IngestError, ProgrammeError, RefusedError
from atr.ingest import Accounting, Reading, ingest
from atr.ingest import accounting as accounting_of
from atr.ingest.forgetting import forget
from atr.ingest.sources.base import Part
from atr.log_check import check
from atr.programme import Programme
from atr.warehouse.connection import Warehouse, warehouse_path
from tests.helpers.logs import GOOD, HEADER, account, decisions, programme, write

ROWS = [f"{i},2013-0{1 + i % 9}-01,{'fm'[i % 2]},{i},{'yes' if i % 3 else 'no'}\n" for i in range(9)]


def state(warehouse: Warehouse) -> dict[str, Any]:
    """All that is known of a log, however it came to be known: numbers of files are told by names."""
    by_name = "JOIN files USING (file)"
    tables = {
        "rows": f"SELECT * EXCLUDE (file, fate, key, state, place) FROM log_rows JOIN meanings USING (fate) {by_name}",
        "fates": f"SELECT name, fate, rows FROM fates {by_name}",
        "cleaned": f"SELECT name, bits, rows FROM cleaned {by_name}",
        "cells": "SELECT f.name, c.name, raw, decisions FROM cells AS c JOIN files AS f USING (file)",
        "days": f"SELECT name, day, decisions FROM days {by_name}",
        "files": "SELECT name, key FROM files",
        "conflicts": "SELECT e.name, c.name, ids FROM conflicts JOIN files AS e ON earlier = e.file "
        "JOIN files AS c ON counts = c.file",
    }
    return {name: sorted(warehouse.query(sql), key=repr) for name, sql in tables.items()}


def fresh(made: Programme) -> dict[str, Any]:
    """The state of a store that reads the log for the first time."""
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        return state(warehouse)


def read(made: Programme) -> Reading:
    with Warehouse.open(made) as warehouse:
        return ingest(warehouse, made)


ROW = st.tuples(
    st.sampled_from("12ab"),
    st.sampled_from(["", "1", "2", "10"]),
    st.sampled_from(["2013-01-01", "2013-05-01", "never"]),
    st.sampled_from(["f", "m", " f"]),
    st.sampled_from(["yes", "no", "perhaps"]),
)
CONTENT = st.lists(ROW, max_size=6)
NAME = st.sampled_from(["9.csv", "10.csv", "a/1.csv", "b.csv"])
EDIT = st.one_of(
    st.tuples(st.just("write"), NAME, CONTENT),
    st.tuples(st.just("remove"), NAME),
    st.tuples(st.just("rename"), NAME, NAME),
    st.tuples(st.just("swap"), NAME, NAME),
    st.tuples(st.just("back"), NAME),
    st.tuples(st.just("touch"), NAME),
)


@pytest.mark.parametrize("form", ["id", "revision", "none"])
@given(st.data())
def test_any_edits_end_as_a_fresh_store(form: str, data: st.DataObject) -> None:
    """Files are written, removed, renamed, exchanged, brought back and touched, with readings in between."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = {"id": None if form == "none" else "id", "revision": "revision" if form == "revision" else None}
        made = programme(
            folder,
            {**keys, "source": "**/*.csv", "repeats": True, "outcomes": {"yes": ["yes"], "no": ["no"]}},
            attributes={"sex": {"role": "public"}, "outcome2": {"role": "sensitive"}},
        )
        header = "id,revision,day,sex,outcome,outcome2\n"
        write(folder, header + "8,1,2013-01-01,f,yes,x\n9,1,2013-01-01,m,no,y\n", "0.csv")
        ever: dict[str, list[bytes]] = {}
        with Warehouse.open(made) as warehouse:
            for edits in data.draw(st.lists(st.lists(EDIT, max_size=4), min_size=1, max_size=4)):
                for kind, file, *more in edits:
                    path, rest = folder / file, [folder / m if isinstance(m, str) else m for m in more]
                    if kind == "write":
                        write(folder, header + "".join(f"{','.join(row)},{row[3]}\n" for row in rest[0]), file)
                        ever.setdefault(file, []).append(path.read_bytes())
                    elif kind == "back" and ever.get(file):
                        write(folder, random.Random(len(ever[file])).choice(ever[file]), file)
                    elif path.exists() and kind == "remove":
                        path.unlink()
                    elif path.exists() and kind == "touch":
                        os.utime(path, (1, 1))
                    elif path.exists() and kind == "rename" and not rest[0].exists():
                        rest[0].parent.mkdir(exist_ok=True)
                        path.rename(rest[0])
                    elif path.exists() and kind == "swap" and rest[0].exists() and rest[0] != path:
                        path.rename(folder / "aside")
                        rest[0].rename(path)
                        (folder / "aside").rename(rest[0])
                found = ingest(warehouse, made)
                assert found.accounting == accounting_of(warehouse)
                assert state(warehouse) == fresh(made)
            assert ingest(warehouse, made).told == "The log is as it was when it was read last."


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_correction_counts_in_whatever_order_files_arrive(tmp_path: Path, order: tuple[int, ...]) -> None:
    """A correction before, in and after its month: the highest revision counts; without one, the last in order."""
    files = {"2013-1.csv": "1,1,no", "2013-2.csv": "1,3,yes", "2013-10.csv": "1,2,no"}
    for revision, outcome in (("revision", "yes"), (None, "no")):
        folder = tmp_path / str(revision)
        folder.mkdir()
        keys = {"source": "*.csv", "decided_at": None, "revision": revision}
        made = programme(folder, keys, period={"every": "all"})
        with Warehouse.open(made) as warehouse:
            write(folder, "id,revision,outcome,sex,income\n2,1,yes,f,5\n3,1,no,f,5\n", "0.csv")
            for i in order:
                name = list(files)[i]
                write(folder, f"id,revision,outcome,sex,income\n{files[name]},f,5\n", name)
                ingest(warehouse, made)
            assert decisions(warehouse, "id, outcome")[0] == ("1", outcome)


def test_what_changed_is_told(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + "".join(ROWS[:4]), "1.csv")
    write(tmp_path, HEADER + "".join(ROWS[4:6]), "2.csv")
    assert read(made).told == "The log is read for the first time: 2 files new: 6 decisions new."
    write(tmp_path, HEADER + "".join(ROWS[1:3]) + ROWS[3].replace(",3,", ",8,"), "1.csv")
    (tmp_path / "2.csv").unlink()
    write(tmp_path, HEADER + "".join(ROWS[5:9]), "3.csv")
    told = "Since the log was read last: 1 file new, 1 changed, 1 gone: 3 decisions new, 1 changed, 2 gone."
    assert read(made).told == told
    (tmp_path / "3.csv").rename(tmp_path / "0.csv")
    assert read(made).told == "The log is as it was when it was read last."


def test_people_who_are_erased_are_gone(tmp_path: Path) -> None:
    made = programme(tmp_path)
    rows = [f"{i},2013-01-01,{'fm'[i % 2]},{i % 20},{'yes' if i % 3 else 'no'}\n" for i in range(400)]
    write(tmp_path, HEADER + "".join(rows))
    assert read(made).accounting.decisions == 400
    write(tmp_path, HEADER + "".join(rows[:350]))
    found = read(made)
    assert (found.accounting.decisions, found.decisions.gone) == (350, 50)
    assert found.accounting == Accounting(350, 350, 0, 0, 0, 1, {})


def test_rows_without_ids_are_told_by_their_number(tmp_path: Path) -> None:
    made = programme(tmp_path, {"id": None})
    write(tmp_path, HEADER + GOOD * 3)
    read(made)
    write(tmp_path, HEADER + GOOD + GOOD.splitlines()[0] + "\n3,2013-01-01,f,50,yes\n")
    found = read(made).decisions
    assert (found.new, found.changed, found.gone) == (1, 0, 3)


@pytest.mark.parametrize("how", ["copy", "reordered", "cumulative", "another month", "no dates"])
def test_without_ids_a_copy_is_refused(tmp_path: Path, how: str) -> None:
    month = [f"2013-01-{d:02},{'fm'[d % 2]},{d % 7},{'yes' if d % 3 else 'no'}\n" for d in range(1, 29)]
    later = [row.replace("2013-01", "2013-02") for row in month]
    rows = {
        "copy": month,
        "reordered": month[::-1],
        "cumulative": month + later,
        "another month": later,
        "no dates": month[::-1],
    }[how]
    dated = {"decided_at": None} if how == "no dates" else {}
    parts: dict[str, Any] = {"period": {"every": "all"}} if dated else {}
    made = programme(tmp_path, {"source": "*.csv", "id": None, **dated}, **parts)
    write(tmp_path, HEADER[3:] + "".join(month), "1.csv")
    read(made)
    write(tmp_path, HEADER[3:] + "".join(rows), "2.csv")
    if how == "another month":
        assert read(made).accounting.decisions == 56
    else:
        with pytest.raises(IngestError, match=r"decisions stand in .*\.csv too(.|\n)*repeats: true"):
            read(made)
        with pytest.raises(IngestError, match="too, and the log has no ids"):
            fresh(made)
        told = programme(tmp_path, {"source": "*.csv", "id": None, "repeats": True, **dated}, **parts)
        assert read(told).accounting.decisions == len(month) + len(rows)


def test_equal_rows_within_a_file_are_decisions(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD * 3)
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path, {"id": None})).decisions == 6


def test_kept_rows_stay_when_their_files_are_deleted(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "drop/*.csv", "keep": True})
    write(tmp_path, HEADER + "".join(ROWS[:4]), "drop/1.csv")
    read(made)
    (tmp_path / "drop/1.csv").unlink()
    assert read(made).accounting.decisions == 4
    write(tmp_path, HEADER + "".join(ROWS[4:]) + ROWS[0].replace("no", "yes"), "drop/2.csv")
    found = read(made)
    assert (found.accounting.decisions, found.decisions.new, found.decisions.changed) == (9, 5, 1)
    assert check(made).accounting == found.accounting
    (tmp_path / "drop/2.csv").unlink()
    other = programme(tmp_path, {"source": "drop/*.csv", "keep": True, "missing": ["", "?"]})
    with pytest.raises(ProgrammeError, match=r"files whose rows are kept are gone: drop/1.csv and 1 more"):
        read(other)
    assert read(made).accounting == found.accounting


SECRET = "zyx-987-secret"


def test_what_is_forgotten_leaves_no_trace(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "drop/*.csv", "keep": True})
    plain = "".join(f"1{i},2013-01-01,{'fm'[i % 2]},{i % 20},{'yes' if i % 3 else 'no'}\n" for i in range(20))
    bad = f"{SECRET},never,f,5,yes\n{SECRET},too,many,fields,in,this,line\n"
    write(tmp_path, HEADER + plain + f"{SECRET},2013-01-01,f,5,yes\n" + bad, "drop/1.csv")
    write(tmp_path, HEADER + f"{SECRET},2013-01-01,m,5,yes\n", "drop/2.csv")
    before = read(made).accounting
    (tmp_path / "drop/1.csv").unlink()
    (made.store_path / "runs").mkdir()
    (made.store_path / "runs" / "left.json").write_text(SECRET)
    assert SECRET.encode() in warehouse_path(made).read_bytes()
    found = forget(made, [f" {SECRET} ", "nobody", ""])
    assert (found.ids, found.rows, found.still_there) == (1, 3, ("drop/2.csv",))
    left = [path for path in made.store_path.rglob("*") if path.is_file()]
    assert [path for path in left if SECRET.encode() in path.read_bytes()] == []

    after = read(made).accounting
    assert (after.decisions, after.corrections) == (before.decisions - 1, before.corrections - 1)
    assert after.quarantined == before.quarantined - 1
    assert warehouse_path(made).stat().st_mode & 0o77 == 0


def test_broken_lines_keep_no_spelling_of_an_id(tmp_path: Path) -> None:
    made = programme(tmp_path, {"keep": True})
    write(tmp_path, HEADER + "".join(ROWS) + '"é ""x""",never\n"é ""x""",2013-01-01,f,5,yes\n')
    read(made)
    assert forget(made, ['é "x"']).rows == 1
    assert "é".encode() not in warehouse_path(made).read_bytes()


@pytest.mark.parametrize("missing", [[""], ["?"]])
def test_rows_without_an_id_keep_nothing_they_say(tmp_path: Path, missing: list[str]) -> None:
    made = programme(tmp_path, {"keep": True, "missing": missing})
    write(tmp_path, HEADER + "".join(ROWS) + f",2013-01-01,{SECRET},5,yes\n")
    read(made)
    assert forget(made, ["1"]).rows == 1
    assert SECRET.encode() not in warehouse_path(made).read_bytes()


def test_a_mirror_forgets_what_the_log_has_forgotten(tmp_path: Path) -> None:
    made = programme(tmp_path)
    log = HEADER + "".join(ROWS) + f"{SECRET},2013-01-01,f,5,yes\n"
    write(tmp_path, log)
    read(made)
    with pytest.raises(IngestError, match="the log still has rows of 1 of these ids"):
        forget(made, [SECRET])
    write(tmp_path, HEADER + "".join(ROWS))
    assert forget(made, [SECRET]).rows == 0
    assert SECRET.encode() not in warehouse_path(made).read_bytes()
    assert read(made).accounting.decisions == 9


def test_a_log_of_counts_is_the_log_it_counts(tmp_path: Path) -> None:
    rows = [row.split(",", 1)[1] for row in ROWS for _ in range(int(row[0]) + 1)]
    counts = [f"{row.split(',', 1)[1].strip()},{int(row[0]) + 1}\n" for row in ROWS]
    one, other = tmp_path / "rows", tmp_path / "counts"
    for folder, text in ((one, HEADER[3:] + "".join(rows)), (other, HEADER[3:].strip() + ",n\n" + "".join(counts))):
        write(folder, text)
    logs = [programme(one, {"id": None}), programme(other, {"id": None, "counts": "n"})]
    found = [check(made) for made in logs]
    assert found[0].accounting == found[1].accounting
    assert found[0].periods.equals(found[1].periods)
    write(other, HEADER[3:].strip() + ",n\n" + "".join(counts) + f"2013-01-01,f,5,yes,00{10**12}\n")
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, logs[1]).accounting.decisions == 10**12 + 45
    wrong = ["0", "1.5", "-1", str(10**12 + 1), str(10**18 - 1), "9" * 30]
    write(other, HEADER[3:].strip() + ",n\n" + "".join(counts) + "".join(f"2013-01-01,f,5,yes,{n}\n" for n in wrong))
    with Warehouse.in_memory() as warehouse:
        reasons = {"count that is no whole number above 0 and up to 10^12": len(wrong)}
        assert ingest(warehouse, logs[1]).accounting.reasons == reasons


def test_a_file_that_did_not_change_is_not_hashed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, log = programme(tmp_path), write(tmp_path, HEADER + GOOD)
    monkeypatch.setattr("atr.ingest.sources.base.SETTLED", 0)
    read(made)
    monkeypatch.setattr("atr.ingest.sources.base.hashlib.file_digest", lambda *_: pytest.fail("was hashed"))
    assert read(made).accounting.decisions == 2
    monkeypatch.undo()
    time = log.stat().st_mtime_ns
    log.write_text(HEADER + GOOD.replace("yes", "no", 1).replace("no", "yes", 1))
    log.write_text(HEADER + GOOD.replace(",5,", ",6,"))
    os.utime(log, ns=(time, time))
    assert read(made).decisions.changed == 1


@pytest.mark.long
def test_check_and_publish_read_alike(tmp_path: Path) -> None:
    """Whatever the log is, and whatever was read before, both find the same or refuse with the same words."""
    texts = [HEADER + "".join(ROWS), HEADER + "x\n", HEADER + GOOD + GOOD.replace("f", "m"), "", "a,b\n1,2\n"]
    for before, text in itertools.product([texts[0], HEADER + GOOD * 2], texts):
        made = programme(tmp_path, {"max_quarantined": 0.1})
        write(tmp_path, before)
        read(made)
        write(tmp_path, text)
        outcomes = []
        for reading in (lambda: check(made).accounting, lambda: read(made).accounting):  # noqa: B023 - called at once
            try:
                outcomes.append(reading())
            except AtrError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_a_lower_limit_of_faulty_rows_holds_for_what_was_read(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "".join(ROWS) + "10,never,f,5,yes\n")
    assert read(programme(tmp_path, {"max_quarantined": 0.2})).accounting.quarantined == 1
    made = programme(tmp_path, {"max_quarantined": 0.05})
    for reading in (read, check):
        with pytest.raises(RefusedError, match="1 of 10 rows"):
            reading(made)


def test_repeats_are_refused_once_they_are_not_meant_any_more(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        write(tmp_path, HEADER + "".join(ROWS), name)
    keys = {"source": "*.csv", "id": None}
    assert read(programme(tmp_path, keys | {"repeats": True})).accounting.decisions == 18
    for reading in (read, read, check):
        with pytest.raises(IngestError, match="too, and the log has no ids"):
            reading(programme(tmp_path, keys))


@pytest.mark.parametrize("back", [False, True])
def test_a_file_that_changes_before_it_is_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    made, log = programme(tmp_path), write(tmp_path, HEADER + GOOD)
    key = Part.key

    def then_changed(part: Part) -> str | None:
        found = key(part)
        log.write_text(HEADER + "".join(ROWS))
        return found

    monkeypatch.setattr(Part, "key", then_changed)
    with pytest.raises(IngestError, match="was changed while it was read"):
        read(made)
    monkeypatch.undo()
    if back:
        log.write_text(HEADER + GOOD)
    assert read(made).accounting == check(made).accounting


def test_what_is_kept_follows_an_edit_that_is_undone(tmp_path: Path) -> None:
    """Of contents of one name that which is there counts, also if it was there before another."""
    made = programme(tmp_path, {"source": "*.csv", "keep": True})
    mistaken = [row.replace("yes", "no") for row in ROWS[:-1]] + ROWS[-1:]
    for rows in (ROWS, mistaken, ROWS, ROWS):
        write(tmp_path, HEADER + "".join(rows), "a.csv")
        found = read(made)
    assert found.told == "The log is as it was when it was read last."
    with Warehouse.open(made) as warehouse:
        assert [f"{i},{outcome}" for i, outcome in decisions(warehouse, "id, outcome")] == [
            f"{row.split(',')[0]},{row.split(',')[-1].strip()}" for row in ROWS
        ]


def test_equal_files_delivered_one_after_the_other_are_two(tmp_path: Path) -> None:
    keys = {"source": "*.csv", "id": None, "keep": True, "repeats": True}
    made = programme(tmp_path, keys)
    for name in ("jan.csv", "feb.csv"):
        write(tmp_path, HEADER + GOOD, name)
        found = read(made)
        (tmp_path / name).unlink()
    assert found.accounting.decisions == 4
    with pytest.raises(IngestError, match="stand in"):
        read(programme(tmp_path, keys | {"repeats": False}))


def test_a_kept_file_without_ids_that_grows_is_told(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv", "id": None, "keep": True})
    write(tmp_path, HEADER[3:] + "".join(row[2:] for row in ROWS[:5]), "1.csv")
    read(made)
    write(tmp_path, HEADER[3:] + "".join(row[2:] for row in ROWS), "1.csv")
    with pytest.raises(IngestError, match=r"5 of its 5 .* what the file was before(.|\n)*in files of their own"):
        read(made)


@pytest.mark.parametrize("store", ["of this version", "of another version", "of 0.2"])
def test_kept_rows_are_not_lost_to_a_new_reading(tmp_path: Path, store: str) -> None:
    made = programme(tmp_path, {"source": "*.csv", "keep": True})
    gone = write(tmp_path, HEADER + "".join(ROWS[:4]), "1.csv")
    write(tmp_path, HEADER + "".join(ROWS[4:]), "2.csv")
    content, sha256 = gone.read_bytes(), hashlib.sha256(gone.read_bytes()).hexdigest()
    with Warehouse.open(made) as warehouse:
        if store == "of 0.2":
            warehouse.query("CREATE TABLE ingestions AS SELECT '1.csv' AS path, $1 AS sha256", [sha256])
        else:
            ingest(warehouse, made)
            layout = "replace(layout, 'made_by', 'x')" if store == "of another version" else "layout"
            warehouse.query(f"UPDATE mirror SET layout = {layout}")
    gone.unlink()
    changed = programme(tmp_path, {"source": "*.csv", "keep": True, "missing": ["", "?"]})
    with pytest.raises(ProgrammeError, match=r"files whose rows are kept are gone: 1\.csv"):
        read(changed)
    gone.write_bytes(content)
    assert read(changed).accounting.decisions == 9
