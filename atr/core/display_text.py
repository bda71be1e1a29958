"""Values as reports show them."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
"""The category of a missing value."""
ANY = ""
"""In place of a value that the people of a group do not share, or that is not told of them; never printed."""

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")

_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNSEEN = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
NOT_MEANT = f"^[{_SPACE}{_UNSEEN}]+|[{_SPACE}{_UNSEEN}]+$|[{_UNSEEN}]+"
"""What no value of a log means: space around it, and characters that cannot be seen; the joiners of scripts that need
them stay. A pattern for Python and for DuckDB."""

_DRAWN = (
    "\x00-\u012b\u012e-\u0131\u0134-\u0165\u0168-\u017f\u018f\u0192\u01a0\u01a1\u01af\u01b0\u01cd-\u01dc"
    "\u01e6\u01e7\u01f8\u01f9\u0218-\u021b\u0237\u0251\u0259\u0261\u02b0\u02b2\u02b3\u02b7\u02b8\u02bb\u02bc"
    "\u02be\u02bf\u02c6-\u02cc\u02da\u02dc\u02dd\u02e1-\u02e3\u0300\u0301\u0303\u0304\u0308\u0309\u0323\u0329"
    "\u0374\u0375\u037e\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u03d7\u03d9\u03db\u03dd\u03e1\u0400-\u045f"
    "\u0490\u0491\u04b0\u04b1\u0591-\u05c7\u05d0-\u05ea\u05ef-\u05f4\u0600-\u06ff\u0750-\u077f\u0870-\u088e"
    "\u0890\u0891\u0898-\u08e1\u08e3-\u097f\u1cd0-\u1cf6\u1cf8\u1cf9\u1d43\u1d47-\u1d49\u1d4d\u1d4f\u1d50\u1d52"
    "\u1d56-\u1d58\u1d5b\u1d9c\u1da0\u1dbb\u1e0c-\u1e0f\u1e20\u1e21\u1e24\u1e25\u1e2a\u1e2b\u1e36-\u1e3b"
    "\u1e3e\u1e3f\u1e42-\u1e49\u1e5a-\u1e63\u1e6c-\u1e6f\u1e80-\u1e85\u1e8e\u1e8f\u1e92\u1e93\u1e97\u1e9e"
    "\u1ef2-\u1ef9\u2000-\u200a\u200c\u200d\u2010\u2011\u2013\u2014\u2018-\u201a\u201c-\u201e\u2020\u2022\u2026"
    "\u202f\u2032\u2033\u2039\u203a\u2044\u20a1\u20a4\u20a6\u20a7\u20a9-\u20ac\u20ae\u20b1\u20b2\u20b4\u20b5"
    "\u20b8-\u20ba\u20bd\u2113\u2116\u2122\u2191\u2193\u2212\u2215\u25cc\u2713\u2715\ua830-\ua839\ua8e0-\ua8ff"
    "\ufb1d-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufbc2\ufbd3-\ufd8f\ufd92-\ufdc7\ufdcf"
    "\ufdf0-\ufdff\ufe0e\ufe0f\ufe70-\ufe74\ufe76-\ufefc\ufffd"
)
UNDRAWN = re.compile(f"[^{_DRAWN}]")
"""A character that some font of the reports lacks; spaces, hyphens and characters without a form of their own apart."""

_FORMULA = re.compile(
    r"""^(?=[\t\r]) | (?:^|(?<=[;\t\r\n]))
        (?=[\s"\ufeff\u200b-\u200d\u2060]* (?:[=@＝＠] | [+\-＋－−].*?[(|!（｜！]))""",
    re.DOTALL | re.VERBOSE,
)
"""Where a spreadsheet would begin a cell with a formula: it may split at semicolons and tabs too, whatever the quotes
say, passes over spaces and what cannot be seen, and takes full-width operators for others. "+" and "-" alone are text.
"""

_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_OTHER_LETTER = re.compile(f"(?!{_RIGHT_TO_LEFT})[^\\W\\d_]")
_RUN = re.compile(f"{_RIGHT_TO_LEFT}+(?:[ '’\"-]+{_RIGHT_TO_LEFT}+)*")


def cleaned(text: str) -> str:
    """Leave out what no value of a log means.

    >>> cleaned(" Fe\u200bmale\u00a0")
    'Female'
    """
    return re.sub(NOT_MEANT, "", text)


def named(values: tuple[str, ...]) -> tuple[str, ...]:
    """Name a group by the values that its people share, for the reviewer."""
    told = tuple(value for value in values if value != ANY)
    if len(told) == len(values):
        return told
    return (*told, "not shown on their own") if told else ("people not shown on their own",)


def counted(n: int, one: str, many: str = "") -> str:
    """Say a number of things in English.

    >>> counted(1, "row"), counted(1200, "row"), counted(0, "person", "people")
    ('1 row', '1,200 rows', '0 people')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def told_apart(value: str, title: str) -> str:
    """Name a value beside values of other attributes: one that is not known with its attribute's title.

    >>> told_apart("unknown", "sex"), told_apart("women", "sex")
    ('sex unknown', 'women')
    """
    return f"{title} {value}" if value == UNKNOWN else value


def printable(text: str) -> str:
    """Replace control and direction-changing characters by a visible one, so that the text prints as it is read."""
    return CONTROL.sub("\ufffd", text)


def spreadsheet_safe(text: str) -> str:
    """Escape a text so that no spreadsheet runs it as a formula.

    >>> [spreadsheet_safe(text) for text in ("=1+1", "-", "+cmd|'/c calc'!A1", "a; =1")]
    ["'=1+1", '-', "'+cmd|'/c calc'!A1", "a;' =1"]
    """
    return printable(_FORMULA.sub("'", text))


def isolated(text: str) -> str:
    """Keep words written from right to left from changing the order of what stands around them.

    A text with no other letters is one value and isolated as a whole, with its digits; in a longer one each run of such
    words is (Unicode Standard Annex 9, FSI and PDI).

    >>> isolated("נשים: 41 %") == "\\u2068נשים: 41 %\\u2069", isolated("41 in 100") == "41 in 100"
    (True, True)
    >>> isolated("41 of 100 נשים, 68 of 100 גברים") == "41 of 100 \\u2068נשים\\u2069, 68 of 100 \\u2068גברים\\u2069"
    True
    """
    if not _RUN.search(text):
        return text
    return _RUN.sub("\u2068\\g<0>\u2069", text) if _OTHER_LETTER.search(text) else f"\u2068{text}\u2069"
