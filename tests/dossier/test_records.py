"""The dossier of released records: the trade-off is that of the library, and names what only a reviewer may know."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import atr
from atr import sanitise
from atr.dossier.records import build, figures, trade_off
from atr.records.channels import Channel
from atr.records.pools import Pools
from atr.records.versions import Changed
from tests.helpers import records as helper
from tests.helpers import released

ALPHA = 0.372


def _channels() -> list[Channel]:
    """Two groups, with an α of their own."""
    found = []
    for counts in (np.array([[40, 10, 5], [20, 30, 45]]), np.array([[30, 30, 0], [9, 8, 13]])):
        joint = counts / counts.sum()
        least = sanitise.choose_alpha(joint, max_log_lift=0.5)
        after = sanitise.leakage(sanitise.linear_reduction(joint, alpha=ALPHA))
        lost = sanitise.loss(joint, sanitise.markov(joint, ALPHA))
        found.append(Channel(np.arange(2), counts, least, ALPHA, None, sanitise.leakage(joint), after, lost))
    return found


def test_the_trade_off_is_that_of_the_library() -> None:
    of = _channels()
    sizes = np.array([channel.counts.sum() for channel in of])
    points = trade_off(of, ALPHA)
    assert [point.alpha for point in points] == sorted({ALPHA, *np.arange(1, 21) / 20}), "at 0 it is infinite"
    for point in points:
        joints = [channel.counts / channel.counts.sum() for channel in of]
        told = [sanitise.leakage(sanitise.linear_reduction(joint, alpha=point.alpha)) for joint in joints]
        assert point.log_lift == pytest.approx(max(each.log_lift for each in told), abs=1e-9)
        assert point.ldp == pytest.approx(max(each.ldp for each in told), abs=1e-9)
        for lost, make in ((point.markov, sanitise.markov), (point.best, sanitise.best)):
            each = [sanitise.loss(joint, make(joint, point.alpha)) for joint in joints]
            assert lost == pytest.approx(sizes @ each / sizes.sum(), abs=1e-9)


def test_it_names_who_decides_and_draws_both_channels() -> None:
    of = _channels()
    pools = Pools((("a", "20 to 30"), ("b", "20 to 30")), (False, False), np.zeros(4, dtype=np.int64))
    dossier = build(released.records(groups=2), pools, of, np.array([[50, 40], [30, 20]]), beside=["2013"])
    assert dossier.groups[0][1].least == max(channel.least for channel in of)
    assert [figure.title for figure in figures(dossier)] == [
        "Values altered, in 100, against log-lift",
        "Values altered, in 100, against local differential privacy",
    ]
    assert all(
        "Markov" in figure.drawing and "best: the least possible" in figure.drawing for figure in figures(dossier)
    )
    assert any("What both tell adds up" in warning for warning in dossier.warnings)


def test_it_warns_of_two_versions_with_other_totals() -> None:
    of, pools = _channels(), Pools((("a", ""), ("b", "")), (False, False), np.zeros(4, dtype=np.int64))
    now = released.records(groups=2)
    low, raised = now.groups[0].totals
    corrected = now.groups[0].model_copy(update={"totals": (low + 1, raised - 1)})
    for before, warned in (
        (None, False),
        ((now.model_copy(update={"bounds": {"max_ldp": 1.0}}), Changed(3, 0, 1)), False),
        ((now.model_copy(update={"groups": (corrected, *now.groups[1:])}), Changed(1, 2, 0)), True),
    ):
        warnings = build(now, pools, of, np.array([[50, 40], [30, 20]]), before=before).warnings
        assert any("Totals are exact: whoever has both versions" in warning for warning in warnings) == warned
        counted = any("3 rows, 0 totals and 1 alpha of groups" in warning for warning in warnings)
        assert counted == (before is not None and not warned)


def test_a_run_leaves_a_private_dossier(tmp_path: Path) -> None:
    draft = atr.release_records(helper.compas(tmp_path, **helper.SCORE, alpha_by="group"), "2013-Q1")
    html = (draft.dossier / "dossier.html").read_text()
    assert "Private" in html
    assert "α by group" in html
    assert "I have read the note" in html
    assert {path.name for path in draft.documents.iterdir()} == {
        *("records.csv", "records.parquet", "channel.json", "note.html", "note.pdf", "manifest.json")
    }


@pytest.mark.long
def test_it_says_what_an_alpha_of_its_own_would_save(tmp_path: Path) -> None:
    one, each = (
        atr.release_records(helper.compas(tmp_path / by, **helper.SCORE, alpha_by=by), "2013-Q1")
        for by in ("release", "group")
    )
    html = (one.dossier / "dossier.html").read_text()
    said = re.search(r"alpha_by: group\), ([\d.]+)", html)
    assert said is not None
    assert float(said[1]) == pytest.approx(100 * each.records.loss, abs=0.1)
    assert each.records.loss < one.records.loss
    assert "alpha_by: group" not in (each.dossier / "dossier.html").read_text()
