"""The colours of all charts; dark mode swaps them by their values, because WeasyPrint ignores a page's CSS in SVG."""

from __future__ import annotations

INK = "#1a1f24"
MUTED = "#55606a"
RULE = "#d5dbe0"
ACCENT = "#0c3f60"
GREY = "#7a858e"
LIMITS = "#a9c4d6"
LIMITS_INK = "#c3c9ce"
LIMITS_GREY = "#d9dee2"
PAPER = "#ffffff"

DARK = {
    INK: "#e9edf0",
    MUTED: "#a7b1b9",
    RULE: "#39434b",
    ACCENT: "#8fc7ea",
    GREY: "#98a3ab",
    LIMITS: "#2f5a76",
    LIMITS_INK: "#59636b",
    LIMITS_GREY: "#3a444c",
    PAPER: "#14181b",
}


def dark_css() -> str:
    """The CSS rules for ``@media (prefers-color-scheme: dark)`` that give charts their colours there."""
    return "\n".join(
        f'svg [{attribute}="{light}"] {{ {attribute}: {dark}; }}'
        for light, dark in DARK.items()
        for attribute in ("fill", "stroke")
    )
