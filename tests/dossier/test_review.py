"""Review: what was reviewed is what is published, byte for byte, and the ledger says who, when and why."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import duckdb
import pytest

from atr.dossier import review, site
from atr.dossier.sign_off import POINTS, confirmed
from atr.errors import EnvironmentFault, RefusedError, ReviewError
from atr.programme import Programme, load
from atr.warehouse.connection import warehouse_path
from atr.warehouse.files import create
from atr.warehouse.ledger import Release
from atr.warehouse.register import Register
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def draft(tmp_path: Path) -> tuple[Programme, Path]:
    path = series.write_series(tmp_path / "s", series.card(2))
    return load(path), series.publish(path).documents


def _decide(programme: Programme, period: str, *, approve: bool, **changes: Any) -> tuple[Release, Path]:
    return review.review(programme, period, approve=approve, **({"name": "R. Viewer", "comment": "read it"} | changes))


def _approve(programme: Programme, **changes: str) -> Path:
    return _decide(programme, "2024", approve=True, **changes)[1]


def test_approval_publishes_the_same_bytes_and_an_index(draft: tuple[Programme, Path]) -> None:
    programme, documents = draft
    before = series.files(documents)
    folder = _approve(programme)
    assert folder == programme.site_path / "2024" / "v1"
    assert series.files(folder) == before
    index = (programme.site_path / "index.html").read_text()
    assert "2024/v1/report.html" in index
    assert "2024/v1/report.html" in (programme.site_path / "feed.xml").read_text()
    (release,) = review.releases(programme)
    assert (release.state, release.reviewer, release.comment) == ("published", "R. Viewer", "read it")
    assert (release.confirmed or "").split(", ") == [*POINTS["report"]]


def test_the_site_can_be_served_and_the_store_is_private(draft: tuple[Programme, Path]) -> None:
    programme, _ = draft
    folder = _approve(programme)
    for path in (programme.site_path.parent, programme.site_path, folder.parent, folder):
        assert stat.S_IMODE(path.stat().st_mode) == 0o755, path
    for path in (*folder.iterdir(), *(programme.site_path / name for name in ("index.html", "feed.xml"))):
        assert stat.S_IMODE(path.stat().st_mode) == 0o644, path
    assert stat.S_IMODE(programme.store_path.stat().st_mode) == 0o700
    for path in programme.store_path.rglob("*"):
        if path.is_file() and "drafts" not in path.parts:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize("linked", ["site", "period", "version"])
@pytest.mark.parametrize("approve", [True, False])
def test_a_folder_of_the_site_that_is_a_link_is_refused(
    draft: tuple[Programme, Path], tmp_path: Path, linked: str, approve: bool
) -> None:
    programme, documents = draft
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "v1").mkdir(parents=True)
    (elsewhere / "v1" / "mine").write_text("mine")
    site = programme.site_path
    link = {"site": site, "period": site / "2024", "version": site / "2024" / "v1"}[linked]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    with pytest.raises(EnvironmentFault, match="nothing is published through links"):
        _decide(programme, "2024", approve=approve)
    assert [path.name for path in elsewhere.rglob("*")] == ["v1", "mine"]
    assert [release.state for release in review.releases(programme)] == ["draft"]
    assert documents.is_dir()


def test_a_link_laid_while_publishing_is_not_followed(
    draft: tuple[Programme, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programme, _ = draft
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o700)
    make = create

    def race(path: Path, *content: bytes, **how: int) -> None:
        new = programme.site_path / "2024" / ".v1.new"
        if new.is_dir() and not new.is_symlink():
            new.rename(new.with_name("taken"))
            new.symlink_to(victim)
        make(path, *content, **how)

    monkeypatch.setattr("atr.warehouse.files.create", race)
    with pytest.raises(OSError, match="somebody else"):
        _approve(programme)
    assert list(victim.iterdir()) == []
    assert stat.S_IMODE(victim.stat().st_mode) == 0o700
    assert [release.state for release in review.releases(programme)] == ["draft"]


@pytest.mark.parametrize(
    "name", ["index.html", "feed.xml", "index.tmp", ".index.html.new", "2024/.v1.new", "2024/.v1.old"]
)
def test_nothing_is_written_or_removed_through_a_link(draft: tuple[Programme, Path], tmp_path: Path, name: str) -> None:
    programme, documents = draft
    before = series.files(documents)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("mine")
    link = programme.site_path / name
    link.parent.mkdir(parents=True)
    link.symlink_to(mine if "2024" not in name else tmp_path / "folder")
    assert series.files(_approve(programme)) == before
    assert mine.read_text() == (tmp_path / "folder" / "mine").read_text() == "mine"
    assert "2024/v1/report.html" in (programme.site_path / "index.html").read_text()
    assert not (programme.site_path / "index.html").is_symlink()


def test_a_ledger_without_points_is_read_and_written(draft: tuple[Programme, Path]) -> None:
    programme, _ = draft
    with duckdb.connect(str(warehouse_path(programme))) as store:
        for table in ("releases", "release_events"):
            store.execute(f"ALTER TABLE {table} DROP COLUMN confirmed")
    (release,) = review.releases(programme)
    assert (release.state, release.confirmed) == ("draft", None)
    assert review.waiting(programme, "2024").release == release
    _approve(programme)
    assert review.history(programme)["confirmed"].tolist() == [confirmed("report")]


def test_a_rejected_draft_is_kept_and_a_new_version_follows(draft: tuple[Programme, Path]) -> None:
    programme, documents = draft
    before = series.files(documents)
    release, kept = _decide(programme, "2024", approve=False, comment="typo")
    assert (release.state, release.confirmed) == ("rejected", None)
    assert series.files(kept) == before
    assert not programme.site_path.exists()
    again = series.publish(programme.path)
    assert again.release.id == "2024-v2"
    _approve(programme)
    assert [(r.version, r.state) for r in review.releases(programme)] == [(1, "rejected"), (2, "published")]


@pytest.mark.parametrize("keep", [False, True])
def test_a_new_version_replaces_the_published_one(tmp_path: Path, keep: bool) -> None:
    path = series.write_series(tmp_path / "s", series.card(2), content=series.programme() | {"keep_replaced": keep})
    programme, site = load(path), tmp_path / "s" / "site" / "test-series"
    first = series.publish(path).release
    _approve(programme)
    series.write_log(path.parent / "log.csv", series.card(4))
    series.publish(path)
    assert review.waiting(programme, "2024").replaces == 1
    with pytest.raises(RefusedError, match="version 1 of 2024 is published with other numbers"):
        _approve(programme)
    assert not (site / "2024" / "v2").exists()
    _decide(programme, "2024", approve=True, replaces=True)
    index = (site / "index.html").read_text()
    assert ("2024/v1/report.html" in index) == keep
    assert "2024/v2/report.html" in index
    assert "by version 2 on" in index
    assert "(replaced)" in (site / "feed.xml").read_text()
    assert (first.report_sha256 or "?") in index
    left = {file.name for file in (site / "2024" / "v1").iterdir()}
    assert ("report.json" in left) == keep
    if not keep:
        assert left == {"report.html"}
        assert "was replaced by" in (site / "2024" / "v1" / "report.html").read_text()
    assert [(r.version, r.state) for r in review.releases(programme)] == [(1, "replaced"), (2, "published")]
    assert [entry.state for entry in Register(programme).entries] == ["replaced", "published"]
    again = series.publish(path)
    assert (again.release.version, again.new) == (2, False)


@pytest.mark.parametrize("broken", ["replaced_html", "put_folder", "Ledger.record"])
def test_a_replacement_that_was_interrupted_is_finished(
    draft: tuple[Programme, Path], monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    programme, _ = draft
    _approve(programme)
    series.write_log(programme.path.parent / "log.csv", series.card(4))
    series.publish(programme.path)
    count = 0
    made = {"replaced_html": site.replaced_html, "put_folder": site.put_folder, "Ledger.record": site.Ledger.record}

    def killed(*given: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count > (broken != "replaced_html"):
            raise KeyboardInterrupt
        return made[broken](*given, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(f"atr.dossier.site.{broken}", killed)
        _decide(programme, "2024", approve=True, replaces=True)
    with pytest.raises(ReviewError, match="no draft of 2024 waits"):
        _decide(programme, "2024", approve=True, replaces=True)
    assert [r.state for r in review.releases(programme)] == ["replaced", "published"]
    assert [path.name for path in (programme.site_path / "2024" / "v1").iterdir()] == ["report.html"]


@pytest.mark.parametrize("change", ["edit", "add", "remove", "manifest"])
def test_a_draft_that_was_changed_is_not_published(draft: tuple[Programme, Path], change: str) -> None:
    programme, documents = draft
    target = documents / ("manifest.json" if change == "manifest" else "report.html")
    if change == "add":
        (documents / "extra.txt").write_text("x")
    elif change == "remove":
        target.unlink()
    else:
        target.write_bytes(target.read_bytes() + b" ")
    with pytest.raises(ReviewError, match="changed"):
        _approve(programme)
    assert not programme.site_path.exists()


def test_only_the_report_that_was_read_is_decided_on(draft: tuple[Programme, Path]) -> None:
    programme, _ = draft
    with pytest.raises(ReviewError, match="not the one that was read"):
        _approve(programme, report_sha256="0123456789")
    (release,) = review.releases(programme)
    assert release.report_sha256 is not None
    _approve(programme, report_sha256=release.report_sha256[:10])


def test_nothing_is_decided_twice(draft: tuple[Programme, Path]) -> None:
    programme, _ = draft
    _approve(programme)
    with pytest.raises(ReviewError, match=r"version 1 is published by R\. Viewer"):
        _approve(programme)
    with pytest.raises(ReviewError, match="there is no release of 2023"):
        _decide(programme, "2023", approve=True)


@pytest.mark.parametrize(
    "target",
    [
        "atr.warehouse.files.create",
        "atr.dossier.site.site_html",
        "atr.dossier.review.Ledger.record",
        "atr.dossier.review.Register.put",
    ],
)
def test_an_approval_that_was_interrupted_can_be_repeated(
    draft: tuple[Programme, Path], monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    programme, documents = draft
    before = series.files(documents)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(target, killed)
        with pytest.raises(KeyboardInterrupt):
            _approve(programme)
    assert series.files(_approve(programme)) == before
    assert "2024/v1/report.html" in (programme.site_path / "index.html").read_text()
    assert [r.state for r in review.releases(programme)] == ["published"]


def test_periods_that_share_days_are_not_both_published(tmp_path: Path) -> None:
    path = series.write_series(tmp_path / "s", series.card(2))
    programme = load(path)
    year, quarter, other = (series.publish(path, label) for label in ("2024", "2024-Q4", "all"))
    assert year.overlapping == ()
    assert quarter.overlapping == ("2024",)
    assert set(other.overlapping) == {"2024", "2024-Q4"}
    assert "2024" in (quarter.dossier / "dossier.html").read_text().split("Look at this first")[1][:300]
    assert "Look at this first" not in (year.dossier / "dossier.html").read_text()

    _decide(programme, "2024-Q4", approve=True)
    for label in ("2024", "all"):
        with pytest.raises(RefusedError, match="2024-Q4"):
            _decide(programme, label, approve=True)
    assert not (programme.site_path / "2024").exists()
    published, _ = _decide(programme, "2024", approve=True, comment="compared", despite_overlap=True)
    assert published.comment == "compared (despite the overlap with 2024-Q4)"
    _decide(programme, "all", approve=False)


def test_a_new_version_of_a_published_period_warns_the_reviewer(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    series.publish(path)
    _decide(load(path), "2024", approve=True)
    series.write_log(tmp_path / "log.csv", series.card(4))
    second = series.publish(path)
    assert second.release.version == 2
    assert "Version 1 of this period is published" in (second.dossier / "dossier.html").read_text()


def test_an_interrupted_approval_counts_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = series.write_series(tmp_path, series.card(2))
    programme = load(path)
    for label in ("2024", "2024-Q4"):
        series.publish(path, label)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("atr.dossier.site.site_html", stop)
        with pytest.raises(KeyboardInterrupt):
            _decide(programme, "2024", approve=True)
    with pytest.raises(RefusedError, match="2024"):
        _decide(programme, "2024-Q4", approve=True)
    assert review.waiting(programme, "2024-Q4")[3] == ("2024",)
    _decide(programme, "2024", approve=True)


def test_rejecting_after_a_broken_off_approval_clears_the_site(
    draft: tuple[Programme, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    programme, _ = draft
    rename = os.rename

    def killed(name: object, *target: str, **folders: int) -> None:
        if not isinstance(name, str) or name.endswith(".new"):
            raise KeyboardInterrupt
        rename(name, *target, **folders)

    folder = programme.site_path / "2024"
    for left in ({".v1.new"}, {"v1"}, {".v1.new", ".v1.old"}):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            if "v1" in left:
                patch.setattr("atr.dossier.review.Ledger.record", killed)
            else:
                patch.setattr(os, "rename", killed)
            _approve(programme)
        assert {path.name for path in folder.iterdir()} == left
        new = folder / ".v1.new"
        assert not new.exists() or stat.S_IMODE(new.stat().st_mode) == 0o700, "nobody reads what is not published"
    _decide(programme, "2024", approve=False)
    assert list(folder.iterdir()) == []
