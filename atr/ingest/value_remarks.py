"""Values of a log that are likely not meant as they stand."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from atr.core.display_text import CONTROL, UNDRAWN, UNKNOWN, printable
from atr.warehouse.connection import Warehouse

_LONG = 80
"""More letters are long for a table."""
_MOST_VALUES = 10_000
"""Of a column, as many are looked at, the most frequent ones."""
_COMPARED = (20, 1_000)
"""Of the values that the programme names and nobody has, and of the most frequent others, as many are held against each
other: likely slips of the pen."""
TOLD = 5
"""As many of a kind are named."""
_NO_VALUE = {
    "na", "n/a", "n.a.", "nan", "none", "null", "nil", "-", "--", "\u2013", "\u2014", "?", "??", ".", "#n/a", "<na>",
    "(null)", "\\n", "unknown", "missing", "undefined", "unspecified", "not available", "keine angabe", "k. a.", "k.a.",
    "ka", "unbekannt", "not known", "no value",
}  # fmt: skip
"""Usual spellings of "no value", in small letters."""


@dataclass(frozen=True)
class Values:
    """The values of a column, and what the programme says of them.

    Parameters
    ----------
    key, naming
        What messages call the column, and the key that names its values.
    counts
        Raw values to decisions.
    named
        Raw values that the programme names, and what it calls them.
    undrawn
        Finds the characters of a text that no font of the reports has.
    """

    key: str
    naming: str
    counts: Mapping[str, int]
    named: Mapping[str, str]
    undrawn: Callable[[str], list[str]] = UNDRAWN.findall

    def shown(self, raw: str) -> str:
        """The value as reports show it."""
        return self.named.get(raw, printable(raw))

    @cached_property
    def shown_counts(self) -> dict[str, int]:
        """Values as reports show them to decisions."""
        found: dict[str, int] = {}
        for raw, decisions in self.counts.items():
            found[self.shown(raw)] = found.get(self.shown(raw), 0) + decisions
        return found


def counted_values(warehouse: Warehouse, name: str) -> dict[str, int]:
    """Count the decisions of each raw value of an attribute, or of the outcome."""
    sql = """SELECT raw, sum(decisions)::BIGINT FROM cells WHERE name = $1 AND raw IS NOT NULL
        GROUP BY raw ORDER BY 2 DESC, 1 LIMIT $2"""
    return dict(warehouse.query(sql, [name, _MOST_VALUES]))


def value_remarks(values: Values) -> list[str]:
    """Tell which values are likely not meant as they stand.

    Parameters
    ----------
    values
        Of an attribute without bins, or of the outcome.

    Returns
    -------
    Sentences without a full stop.
    """
    alike = [*_alike(values.counts, values)]
    told = {raw for group in alike for raw in group}
    found = [_told_apart(group, values.counts, values) for group in alike]
    names = [group for group in _alike(values.shown_counts, None) if not {*group} & {*map(values.shown, told)}]
    found += [_told_apart(group, values.shown_counts, values) for group in names]
    found += _no_value(values) + _misnamed(values, told)
    mixed = [word for raw in values.counts if raw not in values.named for word in _WORD.findall(raw) if _mixed(word)]
    if mixed:
        some = few(f"'{word}' ({ascii(word)[1:-1]})" for word in mixed)
        found.append(f"{values.key}: words have letters of several scripts, which may look alike: {some}")
    shown = values.shown_counts
    odd = [raw for raw in values.counts if raw not in values.named and CONTROL.search(raw)]
    if odd:
        found.append(f"{values.key}: {min(odd)!a} has characters that cannot be printed")
    found += undrawn_remark(values.key, shown, values.undrawn, f"name such values otherwise in {values.naming}, or ")
    longest = max(shown, key=len, default="")
    if len(longest) > _LONG:
        found.append(f"{values.key}: a value has {len(longest)} letters, '{longest[:30]}…'; see {values.naming}")
    return found


def undrawn_remark(key: str, texts: Iterable[str], undrawn: Callable[[str], list[str]], advice: str = "") -> list[str]:
    """Tell which characters of some texts no font of the reports has, if any.

    Parameters
    ----------
    key
        The key of the programme that the texts belong to.
    texts
        As reports show them.
    undrawn
        Finds such characters of a text.
    advice
        What may be done besides supplying a font.
    """
    found = {text: missing for text in texts if (missing := undrawn(text))}
    if not found:
        return []
    characters = sorted({character for missing in found.values() for character in missing})
    some = few(f"'{c}'" if c.isprintable() and not unicodedata.combining(c) else f"U+{ord(c):04X}" for c in characters)
    return [
        f"{key}: no font of the reports has {some}, as in {min(found)!r}: they may be printed as boxes; {advice}name a "
        "folder with a font that has them in fonts"
    ]


def few(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are.

    >>> few(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    every = [*names]
    more = f" and {len(every) - TOLD:,} more" if every[TOLD:] else ""
    return f"{', '.join(every[:TOLD])}{more}"


def nearest(value: str, others: Iterable[str]) -> str | None:
    """The value among others that this one is likely meant to be."""
    folded = {other.casefold(): other for other in reversed([*others])}
    near = difflib.get_close_matches(value.casefold(), [*reversed(folded)], n=1)
    return folded[near[0]] if near else None


def _seen(text: str) -> str:
    """What values that nobody tells apart have in common."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if re.fullmatch(r"[+-]?[0-9]{1,30}([.][0-9]{1,30})?", plain):
        return f"{Decimal(plain).normalize():f}"
    return "".join(c for c in plain if unicodedata.category(c) != "Cf" and c not in "\ufe0e\ufe0f") or text


_WORD = re.compile(r"[^\W\d_]+")


def _mixed(word: str) -> bool:
    """Whether a word has letters of several of the scripts whose letters look alike."""
    scripts = {unicodedata.name(c, "").partition(" ")[0] for c in word}
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK"}) > 1


def _alike(counts: Mapping[str, int], values: Values | None) -> Iterable[list[str]]:
    """Groups of texts that nobody tells apart, and reports show apart."""
    groups: dict[str, list[str]] = {}
    for text in counts:
        groups.setdefault(_seen(text), []).append(text)
    for group in groups.values():
        if len({values.shown(text) if values else text for text in group}) > 1:
            yield sorted(group, key=lambda text: (counts[text], text))


def _told_apart(group: list[str], counts: Mapping[str, int], values: Values) -> str:
    first, *others = group
    if len({text.casefold() for text in group}) == 1:
        how = "differ only in letter case"
    else:
        how = "are the same number" if re.fullmatch(r"[+-]?[0-9.]+", first) else "look alike"
    composed = len({unicodedata.normalize("NFC", text) for text in group}) < len(group)
    say_one = ascii if composed else repr
    say = few([f"{counts[first]:,} of {sum(counts[text] for text in group):,} decisions say {say_one(first)}",
               *(f"{counts[text]:,} {say_one(text)}" for text in others)])  # fmt: skip
    return f"{values.key}: {say}: these {how}, and are counted apart; see {values.naming}"


def _no_value(values: Values) -> list[str]:
    found = [
        f"{raw!r} ({decisions:,})"
        for raw, decisions in values.counts.items()
        if raw not in values.named and _seen(raw) in _NO_VALUE and raw != UNKNOWN
    ]
    if not found:
        return []
    return [
        f"{values.key}: {few(found)} may mean that there is no value, and {'is' if len(found) == 1 else 'are'} counted "
        "as any other; if so, name such texts in log.missing"
    ]


def _misnamed(values: Values, told: set[str]) -> list[str]:
    """Values that the programme names and nobody has, and the other way round."""
    undeclared = [raw for raw in values.counts if raw not in values.named]
    absent = [value for value in values.named if value not in values.counts]
    near = {value: nearest(value, undeclared[: _COMPARED[1]]) for value in absent[: _COMPARED[0]]}
    found = [
        f"{values.naming}: {value!r} occurs nowhere in the log, which has {like!r}"
        for value, like in near.items()
        if like is not None
    ]
    unnamed = [raw for raw in undeclared if raw not in told | {*near.values()} and _seen(raw) not in _NO_VALUE]
    if values.named and unnamed:
        some = few(f"{raw!r} ({values.counts[raw]:,})" for raw in unnamed)
        found.append(f"{values.naming}: does not name {some}, which the log has")
    return found
