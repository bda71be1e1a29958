"""Images of the pages of the bundled reports; ``python -m tests.helpers.page_images`` renews those that are kept."""

from __future__ import annotations

import shutil
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image

from atr import pipeline
from atr.core.arrays import FloatArray
from atr.report.model import PublicReport
from tests.helpers.paths import EXAMPLES, TESTS

KEPT = TESTS / "documents" / "pages"
BUNDLED = {"compas": "2013", "mortgage": None, "card": None}
"""The bundled programmes and the periods of their reports."""
DAY = date(2026, 1, 1)
SCALE = 30 / 72
"""Pixels a point: as few as show where every line stands."""
COLUMNS = 8


def report_pdf(programme: str, folder: Path) -> Path:
    """Publish a bundled programme in a folder; give its PDF."""
    example = shutil.copytree(EXAMPLES / programme, folder / programme, ignore=shutil.ignore_patterns("var", "site"))
    return pipeline.publish(example, BUNDLED[programme], today=DAY).documents / "report.pdf"


def report(programme: str) -> PublicReport:
    """The report of a bundled programme."""
    with tempfile.TemporaryDirectory() as folder:
        path = report_pdf(programme, Path(folder)).with_name("report.json")
        return PublicReport.model_validate_json(path.read_bytes())


def pages(path: Path) -> FloatArray:
    """(page, y, x) the grey of every page of a PDF, 0 black to 1 white."""
    with pypdfium2.PdfDocument(path) as document:
        drawn = [page.render(scale=SCALE, grayscale=True).to_numpy() for page in document]
    return np.stack([page.reshape(page.shape[:2]) for page in drawn]) / 255


def kept(programme: str, shape: tuple[int, ...]) -> FloatArray:
    """(page, y, x) the pages as they were when their images were last renewed, each as large as ``shape`` says."""
    height, width = shape
    with Image.open(KEPT / f"{programme}.png") as image:
        sheet = np.asarray(image.convert("L")) / 255
    rows, columns = sheet.shape[0] // height, sheet.shape[1] // width
    cut = sheet[: rows * height, : columns * width].reshape(rows, height, columns, width)
    found = cut.swapaxes(1, 2).reshape(-1, height, width)
    return found[(found < 1).any(axis=(1, 2))]


def sheet(of: FloatArray) -> Image.Image:
    """All pages on one sheet, in 16 greys."""
    blank = np.ones((-len(of) % COLUMNS, *of.shape[1:]))
    filled = np.concatenate([of, blank]).reshape(-1, COLUMNS, *of.shape[1:])
    greys = np.round(filled.swapaxes(1, 2).reshape(-1, COLUMNS * of.shape[2]) * 15) * 17
    return Image.fromarray(greys.astype(np.uint8)).quantize(16)


def differing(one: FloatArray, other: FloatArray) -> FloatArray:
    """(page,) the share of dots that differ by more than a quarter of the way from black to white."""
    return np.asarray((np.abs(one - other) > 0.25).mean(axis=(1, 2)))


if __name__ == "__main__":
    for name in BUNDLED:
        with tempfile.TemporaryDirectory() as folder:
            sheet(pages(report_pdf(name, Path(folder)))).save(KEPT / f"{name}.png", optimize=True)
