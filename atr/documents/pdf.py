"""The PDF document: the HTML laid out on paper by WeasyPrint, tagged, with the annex attached."""

from __future__ import annotations

import gc
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any

from atr.documents import fonts, templates
from atr.documents.charts.laid_over import laid_over
from atr.errors import EnvironmentFault

_ENVIRONMENT = Lock()
_COLLECTION = Lock()
_uncollected: list[bool] = []
"""For each layout under way, whether garbage was looked for when it began."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no garbage: what a layout makes lives until it is written, and the search takes a quarter of it."""
    with _COLLECTION:
        _uncollected.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _COLLECTION:
            if _uncollected.pop() and not _uncollected:
                gc.enable()


@_no_collection()
def pdf(html: str, *, date: str, identifier: str, attachments: Mapping[str, tuple[bytes, str]]) -> bytes:
    """Lay out a document as PDF/UA; the same arguments give the same bytes.

    Parameters
    ----------
    html
        The document. It may name bundled fonts and hold others in itself; nothing else is read, and no font of the
        machine is used.
    date
        ISO date of the document and its attachments.
    identifier
        Hexadecimal, unique to the content.
    attachments
        For each file name its content and its description.

    Returns
    -------
    The file.

    Raises
    ------
    EnvironmentFault
        If WeasyPrint's system libraries are missing.
    """
    weasyprint = engine()
    fetcher = bundled_fetcher(weasyprint)
    moment = datetime.fromisoformat(date).replace(tzinfo=UTC)
    document = _document()(string=laid_over(html), base_url=None, url_fetcher=fetcher)
    attached = [
        weasyprint.Attachment(
            string=content, name=name, description=description, relationship="Data", created=moment, modified=moment
        )
        for name, (content, description) in attachments.items()
    ]
    with _no_fonts_of_the_machine():
        configuration = weasyprint.text.fonts.FontConfiguration()
    weasyprint.CSS(string=fonts.BASE, url_fetcher=fetcher, font_config=configuration)  # Pango ends without any font
    written: bytes = document.write_pdf(
        font_config=configuration,
        pdf_variant="pdf/ua-1",
        pdf_identifier=identifier.encode(),
        attachments=attached,
        finisher=_scopes,
    )
    return written


def engine() -> Any:
    """Import WeasyPrint, without its warnings about embedded fonts and about a machine that has none.

    Raises
    ------
    EnvironmentFault
        If its system libraries are missing.
    """
    try:
        with _no_fonts_of_the_machine():
            import weasyprint
            import weasyprint.text.fonts
    except OSError:
        raise EnvironmentFault(
            "the libraries that lay out the PDF are missing: "
            "apt install libpango-1.0-0 libpangoft2-1.0-0 (Debian) or brew install pango (macOS)"
        ) from None
    logging.getLogger("weasyprint").addFilter(_asks_something)
    return weasyprint


@cache
def _document() -> Any:
    """WeasyPrint's document without its base styles of footnotes, which cost every element five pseudo-elements."""
    import weasyprint

    lines = files("weasyprint.css").joinpath("html5_ua.css").read_text(encoding="utf-8").splitlines()
    styles = weasyprint.CSS(string="\n".join(line for line in lines if not line.startswith(("::footnote", "::note"))))

    class Document(weasyprint.HTML):  # type: ignore[misc]
        """Has no footnotes."""

        def _ua_stylesheets(self, forms: bool = False) -> list[Any]:
            return [styles]

    return Document


@contextmanager
def _no_fonts_of_the_machine() -> Iterator[None]:
    """Let Fontconfig find no font but those of documents, and no setting of the machine."""
    with _ENVIRONMENT, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No fonts configured in FontConfig")
        before = os.environ.get("FONTCONFIG_FILE")
        os.environ["FONTCONFIG_FILE"] = str(templates.folder() / "report" / "fonts" / "fonts.conf")
        try:
            yield
        finally:
            os.environ.pop("FONTCONFIG_FILE")
            if before is not None:
                os.environ["FONTCONFIG_FILE"] = before


def _asks_something(record: logging.LogRecord) -> bool:
    """Without an optional library WeasyPrint warns of every font, though all are embedded all the same."""
    return "HarfBuzz-Subset" not in record.msg


def bundled_fetcher(weasyprint: Any) -> Any:
    """A fetcher that reads fonts for WeasyPrint, bundled or held by the document, and refuses every other address."""
    fatal = weasyprint.urls.FatalURLFetchingError

    class BundledFetcher(weasyprint.urls.URLFetcher):  # type: ignore[misc]
        """Reads fonts, and refuses every other address: no file, no network, no other data."""

        def fetch(self, url: str, headers: Any = None) -> Any:
            font = fonts.read(url)
            if font is None:
                raise fatal(f"a document may not read {url[:80]}")
            return weasyprint.urls.URLFetcherResponse(url, font, {"Content-Type": "font/ttf"})

    return BundledFetcher(allowed_protocols=(), allow_redirects=False, fail_on_errors=True)


def _scopes(_document: Any, file: Any) -> None:
    """Give every header cell its scope, which WeasyPrint leaves out."""
    for cell in file.objects:
        if not isinstance(cell, dict) or cell.get("S") != "/TH":
            continue
        row = _target(file, cell["P"])
        head = _target(file, row["P"])["S"] == "/THead"
        cell["A"]["Scope"] = "/Column" if head or "ColSpan" in cell["A"] else "/Row"


def _target(file: Any, reference: bytes) -> Any:
    return file.objects[int(reference.split()[0])]
