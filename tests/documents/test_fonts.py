"""The fonts of documents: which they carry, what these draw, and that none is the machine's."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from atr.core.display_text import UNDRAWN
from atr.documents import templates
from atr.documents.fonts import with_fonts
from atr.documents.html import ReportPage
from atr.documents.pdf import pdf
from atr.documents.render import contents
from atr.programme.font_files import FontFile, read_fonts
from tests.helpers.reports import silent
from tests.helpers.scripts_sample import several_scripts
from tests.helpers.small_fonts import embedded, write_font

BUNDLED = templates.folder() / "report" / "fonts"
PAGE = '<html lang=en><title>t</title><style>\nhtml {{ font-family: "Source Sans 3", serif }}</style><p>{}'
SCRIPTS = {"Hebrew": "עברית", "Arabic": "العربية", "Devanagari": "हिन्दी", "Greek": "ελληνικά", "Cyrillic": "Кириллица"}
SNOWMAN, KANJI = "\u2603", "日本"


def codes(ranges: str) -> set[int]:
    """The code points of a CSS ``unicode-range``."""
    ends = [part.removeprefix("U+").split("-") for part in ranges.split(",")]
    return {code for part in ends for code in range(int(part[0], 16), int(part[-1], 16) + 1)}


def faces(html: str) -> list[tuple[str, str, str, set[int]]]:
    """The family, weight, address and characters of every font face of a document."""
    found = re.findall(
        r'@font-face\{font-family:"([^"]*)";font-weight:(\d+);.*?url\(([^)]*)\).*?unicode-range:([^}]*)\}', html
    )
    return [(family, weight, address, codes(ranges)) for family, weight, address, ranges in found]


def paper(text: str, supplied: tuple[FontFile, ...] = ()) -> bytes:
    """The PDF of a paragraph; a character without a font in it is logged, which is a failure."""
    html = with_fonts(PAGE.format(text), embedded=False, supplied=supplied)
    with silent():
        return pdf(html, date="2014-01-01", identifier="00", attachments={})


def test_faces_claim_what_they_draw_and_all_that_is_not_told() -> None:
    drawn = {code for code in {*range(0x20, 0xD800), *range(0xE000, 0x10000)} if not UNDRAWN.match(chr(code))}
    claimed: set[int] = set()
    spaces = {0xAD, *range(0x80, 0xA0), *range(0x2000, 0x200B), 0x200C, 0x200D, 0x2010, 0x2011, 0x202F}
    for family, _, address, characters in faces(with_fonts("<style>\n" + "".join(map(chr, drawn)), embedded=False)):
        have = TTFont(BUNDLED / f"{address.partition(':')[2]}.ttf").getBestCmap()
        assert not {code for code in characters - spaces - {*range(0x20), 0x7F} if code not in have}, family
        claimed |= characters
    assert drawn - claimed == {0xFE0E, 0xFE0F}


def test_a_document_carries_the_fonts_of_its_scripts_only() -> None:
    latin = {family for family, *_ in faces(with_fonts(PAGE.format("text")))}
    assert latin == {"Source Sans 3", "Source Serif 4"}
    for script, text in SCRIPTS.items():
        added = {family for family, *_ in faces(with_fonts(PAGE.format(text)))} - latin
        assert {family.rpartition(" ")[2] for family in added} == {script}


def test_every_family_is_named_wherever_a_base_is() -> None:
    html = with_fonts(PAGE.format("ע <svg font-family=\"'Source Serif 4',serif\">"))
    assert '{ font-family: "Source Sans 3","Noto Sans Hebrew", serif }' in html
    assert "font-family=\"'Source Serif 4','Noto Sans Hebrew',serif\"" in html


@pytest.mark.parametrize("script", ["Hebrew", "Arabic", "Devanagari"])
def test_paper_embeds_the_font_of_a_script(script: str) -> None:
    assert embedded(paper(SCRIPTS[script])) == {f"Noto-Sans-{script}"}
    assert embedded(paper(f"<b style='font-weight:600'>{SCRIPTS[script]}")) == {f"Noto-Sans-{script}-Semi-Bold"}


@pytest.mark.long
def test_a_report_in_several_scripts_has_a_font_for_each() -> None:
    with silent():  # WeasyPrint logs every character without a font
        files = contents(several_scripts())
    assert len(files["report.html"]) < 1_000_000
    names = embedded(files["report.pdf"])
    assert {name.partition("-Semi")[0] for name in names} >= {f"Noto-Sans-{s}" for s in [*SCRIPTS][:3]}
    assert all(name.startswith(("Source-Sans-3", "Source-Serif-4", "Noto-Sans", "ATR-Symbols")) for name in names)


MACHINES = {
    "none": "<fontconfig></fontconfig>",
    "many": "<fontconfig><dir>/usr/share/fonts</dir><dir>{folder}</dir><cachedir>{folder}/cache</cachedir>"
    "<match target='pattern'><edit name='family' mode='prepend_first'><string>machine</string></edit></match>"
    "<match target='font'><edit name='hintstyle' mode='assign'><const>hintfull</const></edit></match></fontconfig>",
}
CHILD = """
import hashlib, sys
from atr.documents.fonts import with_fonts
from atr.documents.pdf import pdf
html = with_fonts(sys.argv[1], embedded=False)
print(hashlib.sha256(pdf(html, date="2014-01-01", identifier="00", attachments={})).hexdigest())
"""


@pytest.mark.long
def test_no_font_or_setting_of_the_machine_is_used(tmp_path: Path) -> None:
    write_font(tmp_path / "machine.ttf", f"abc{SNOWMAN}")
    hashes = set()
    for name, settings in MACHINES.items():
        (tmp_path / f"{name}.conf").write_text(settings.format(folder=tmp_path))
        environment = os.environ | {"FONTCONFIG_FILE": str(tmp_path / f"{name}.conf")}
        environment |= {"LANGUAGE": "ja" if name == "many" else "", "PYTHONWARNINGS": "error::UserWarning"}
        environment |= {"PYTHONPATH": os.pathsep.join(sys.path)}
        text = PAGE.format(f"abc {SNOWMAN} עברית <i>abc</i> <span style='font-family: machine, monospace'>abc")
        command = [sys.executable, "-c", CHILD, text]
        hashes.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(hashes) == 1
    assert len(hashes.pop().strip()) == hashlib.sha256().digest_size * 2


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FONTCONFIG_FILE", "of-the-machine.conf")
    paper("text")
    assert os.environ["FONTCONFIG_FILE"] == "of-the-machine.conf"


def test_supplied_fonts_draw_what_bundled_ones_lack(tmp_path: Path) -> None:
    write_font(tmp_path / "regular.ttf", f"a {KANJI}{SNOWMAN}")
    write_font(tmp_path / "bold.woff2", f" {KANJI[0]}", weight=700)
    fonts = read_fonts(tmp_path, "fonts")
    html = with_fonts(PAGE.format(f"a {KANJI}"), supplied=fonts)
    own = [face for face in faces(html) if face[0].startswith("Supplied")]
    assert [(family, weight, characters) for family, weight, _, characters in own] == [
        ("Supplied 1", "400", {ord(KANJI[0])}),
        ("Supplied 1", "600", {ord(KANJI[0])}),
        ("Supplied 2", "400", {ord(KANJI[1])}),
    ]
    cut = TTFont(io.BytesIO(base64.b64decode(own[0][2].partition(",")[2])))
    assert set(cut.getBestCmap()) == {*map(ord, f" {KANJI[0]}")}
    assert with_fonts(PAGE.format("a ä ع"), supplied=fonts) == with_fonts(PAGE.format("a ä ع"))


def test_paper_embeds_supplied_fonts_in_both_weights(tmp_path: Path) -> None:
    write_font(tmp_path / "regular.ttf", f" {KANJI}")
    write_font(tmp_path / "bold.otf", f" {KANJI}", weight=700)
    fonts, text = read_fonts(tmp_path, "fonts"), f"a {KANJI} <b style='font-weight:600'>{KANJI}</b>"
    assert embedded(paper(text, fonts)) == {"Source-Sans-3,", "Supplied-1,", "Supplied-1-Semi-Bold"}
    assert paper(text, fonts) == paper(text, read_fonts(tmp_path, "fonts"))


def test_a_variable_font_is_cut_at_both_weights(tmp_path: Path) -> None:
    write_font(tmp_path / "v.ttf", KANJI, weight=100, variable=True)
    fonts = read_fonts(tmp_path, "fonts")
    own = [face for face in faces(with_fonts(PAGE.format(KANJI), supplied=fonts)) if face[0].startswith("Supplied")]
    cut = [TTFont(io.BytesIO(base64.b64decode(address.partition(",")[2]))) for _, _, address, _ in own]
    assert [font["OS/2"].usWeightClass for font in cut] == [400, 600]
    assert not [font for font in cut if "fvar" in font]
    assert embedded(paper(KANJI, fonts))


def test_values_from_right_to_left_are_isolated() -> None:
    html = ReportPage(several_scripts(), "").screen
    assert 'lang="en" dir="ltr"' in html
    body = html[html.index("<body") :]
    assert "\u2068גבר\u2069" in body
    assert "\u2068أقل من ١٠\u2069" in body
    assert not re.search("[א-ת]", re.sub("\u2068[^\u2068\u2069]*\u2069", "", body))
