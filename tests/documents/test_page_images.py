"""The pages of the bundled reports look as they did when somebody last looked at them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers import page_images

MOST = 0.004
"""The share of a page's dots that may differ; where a line moves what is below it, more do."""
pytestmark = pytest.mark.long


@pytest.mark.parametrize("programme", page_images.BUNDLED)
def test_pages_are_as_they_were(programme: str, tmp_path: Path) -> None:
    """After a change that is meant, look at the pages and renew the images: python -m tests.helpers.page_images."""
    found = page_images.pages(page_images.report_pdf(programme, tmp_path))
    kept = page_images.kept(programme, found.shape[1:])
    assert len(found) == len(kept)
    assert (page_images.differing(found, kept) <= MOST).all()


def test_a_line_more_on_a_page_is_seen() -> None:
    kept = page_images.kept("compas", (351, 248))[:-1]
    moved = kept.copy()
    moved[:, 100:] = np.roll(kept[:, 100:], 4, axis=1)
    assert (page_images.differing(moved, kept) > MOST).all()
