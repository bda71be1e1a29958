"""The folder of fonts that a programme names: what is read of them, and one clear message for every fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr.errors import ProgrammeError
from atr.programme import Programme, load
from tests.helpers.logs import programme
from tests.helpers.small_fonts import write_font


def _load(folder: Path) -> Programme:
    return programme(folder, fonts="my fonts")


def test_fonts_are_read_by_name_and_other_files_are_not(tmp_path: Path) -> None:
    write_font(tmp_path / "my fonts" / "b.otf", "日", weight=700)
    write_font(tmp_path / "my fonts" / "a.woff2", "本", weight=300)
    write_font(tmp_path / "my fonts" / "c.TTF", "日本", variable=True)
    (tmp_path / "my fonts" / "LICENSE").write_text("free")
    fonts = _load(tmp_path).font_files
    assert [(font.path.name, font.weights) for font in fonts] == [
        ("a.woff2", (300, 300)),
        ("b.otf", (700, 700)),
        ("c.TTF", (100, 900)),
    ]
    assert [font.characters for font in fonts] == [{ord("本")}, {ord("日")}, {*map(ord, "日本")}]


def test_a_missing_folder_is_told_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(ProgrammeError, match=r"line \d+, fonts: there is no such folder: .*my fonts$"):
        _load(tmp_path)


def test_a_folder_without_fonts_is_told(tmp_path: Path) -> None:
    (tmp_path / "my fonts").mkdir()
    (tmp_path / "my fonts" / "kanji.ttc").write_text("x")
    with pytest.raises(
        ProgrammeError, match=r"line \d+, fonts: .*my fonts has no file that ends in .ttf, .otf, .woff2\n"
    ):
        _load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no font", b"\x00\x01\x00\x00", b"wOF2", b"cut"])
def test_a_broken_font_is_told_by_name(tmp_path: Path, content: bytes) -> None:
    path = write_font(tmp_path / "my fonts" / "a.ttf", "日")
    path.write_bytes(path.read_bytes()[:400] if content == b"cut" else content)
    with pytest.raises(ProgrammeError, match=r"my fonts/a.ttf: cannot be read as a font \(.*\nReplace the file"):
        _load(tmp_path)


def test_the_hash_of_a_programme_covers_its_fonts(tmp_path: Path) -> None:
    write_font(tmp_path / "my fonts" / "a.ttf", "日")
    made = _load(tmp_path)
    assert load(made.path).sha256 == made.sha256
    write_font(tmp_path / "my fonts" / "a.ttf", "日本")
    assert load(made.path).sha256 != made.sha256
