"""Excel files, written by hand so that every cell is as a test says."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPES = "application/vnd.openxmlformats-package.relationships+xml"
DAY, MOMENT, DURATION = "1", "2", "3"
"""Styles of cells."""


def text(value: str) -> str:
    """A cell that holds a text."""
    return f't="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def number(value: str, style: str = "0") -> str:
    """A cell that holds a number, as it stands; with a style it may be a date."""
    return f's="{style}"><v>{value}</v></c>'


def row(at: int, cells: list[str], left: str = "A") -> str:
    """A row; a cell is "" (none), or what the functions above give, or other XML."""
    named = (f'<c r="{chr(ord(left) + i)}{at}" {cell}' for i, cell in enumerate(cells) if cell)
    return f'<row r="{at}">{"".join(named)}</row>'


def workbook(**sheets: str) -> bytes:
    """The file with these sheets, of each the XML of its rows."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as parts:

        def write(name: str, xml: str) -> None:
            parts.writestr(zipfile.ZipInfo(name), _HEAD + xml)

        def relations(name: str, targets: dict[str, str]) -> None:
            listed = (
                f'<Relationship Id="r{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
                for i, (target, kind) in enumerate(targets.items(), 1)
            )
            write(name, f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(listed)}</Relationships>')

        default = f'<Default Extension="rels" ContentType="{_TYPES}"/><Default Extension="xml" ContentType="text/xml"/>'
        write("[Content_Types].xml", f'<Types xmlns="{_PACKAGE}/content-types">{default}</Types>')
        relations("_rels/.rels", {"xl/workbook.xml": "officeDocument"})
        listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1))
        names = f'xmlns="{_MAIN}" xmlns:r="{_OFFICE}"'
        write("xl/workbook.xml", f"<workbook {names}><sheets>{listed}</sheets></workbook>")
        targets = {f"worksheets/sheet{i}.xml": "worksheet" for i, _ in enumerate(sheets, 1)}
        relations("xl/_rels/workbook.xml.rels", targets | {"styles.xml": "styles"})
        styles = '<numFmts count="1"><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellXfs count="4">'
        styles += "".join(f'<xf numFmtId="{style}"/>' for style in (0, 14, 22, 164)) + "</cellXfs>"
        write("xl/styles.xml", f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>')
        for i, rows in enumerate(sheets.values(), 1):
            sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
            write(f"xl/worksheets/sheet{i}.xml", sheet)
    return packed.getvalue()
