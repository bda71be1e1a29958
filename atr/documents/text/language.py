"""The language of a document: its catalogue of messages, and how it writes numbers, dates and lists.

Messages are English in the code and the templates; ``text/LANGUAGE/report.po`` has what they are in another language.
Nothing here rounds: numbers are rounded already.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from babel.lists import format_list
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from atr.report.model import PeriodInfo, Population

FOLDER = Path(__file__).parent
"""Has a folder for each language but English."""
ENGLISH = "en_GB"
_NAMED = 8


def available() -> tuple[str, ...]:
    """The languages that documents can be written in."""
    return tuple(sorted({"en", *(path.parent.name for path in FOLDER.glob("*/report.po"))}))


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language, from its tag by :meth:`of`."""

    tag: str
    locale: Locale
    catalogue: gettext.NullTranslations

    @staticmethod
    def of(tag: str) -> Language:
        """Find the language of a tag such as ``de-AT``, by its longest known part; English where none is known."""
        parts = tag.split("-")
        for known in ("-".join(parts[:n]) for n in range(len(parts), 0, -1)):
            if known in available() and known != "en":
                return Language(known, _locale(tag, known), _catalogue(FOLDER / known / "report.po"))
        return Language(
            "en",
            _locale(tag, ENGLISH) if parts[0] == "en" and parts[1:] else _locale(ENGLISH, ENGLISH),
            gettext.NullTranslations(),
        )

    @property
    def right_to_left(self) -> bool:
        """Whether it is written from right to left."""
        return bool(self.locale.text_direction == "rtl")

    def say(self, message: str, **values: Any) -> str:
        """Say a message with its values, of which numbers are written already."""
        return self.catalogue.gettext(message).format(**values)

    def say_n(self, one: str, many: str, n: int, **values: Any) -> str:
        """Say a message in singular or plural; ``n`` in it is the number, written."""
        return self.catalogue.ngettext(one, many, n).format(n=self.number(n), **values)

    def number(self, value: float, *, decimals: int = 0) -> str:
        """Write a number with at least this many decimals, and more only where it has more.

        >>> Language.of("de").number(1234.5, decimals=2)
        '1.234,50'
        """
        return _written(value, 0, decimals, self.locale)

    def points(self, share: float, *, decimals: int = 0) -> str:
        """Write a share times a hundred, exactly.

        >>> Language.of("en").points(0.675)
        '67.5'
        """
        return _written(share, 2, decimals, self.locale)

    def percent(self, share: float, *, decimals: int = 0) -> str:
        """Write a share in percent, exactly.

        >>> Language.of("en").percent(0.675), Language.of("de").percent(0.675)
        ('67.5%', '67,5\\xa0%')
        """
        return str(self.locale.percent_formats[None].pattern).replace("#,##0", self.points(share, decimals=decimals))

    def people(self, population: Population) -> str:
        """Write a number of people as printed."""
        if isinstance(population, int):
            return self.number(population)
        return self.say("under {number}", number=self.number(population.below))

    def listed(self, items: Sequence[str], *, last: str = "and", most: int | None = None) -> str:
        """Join items with "and" or "or"; of more than ``most``, the first ones and the number of the others.

        >>> Language.of("en").listed(["a", "b", "c"], last="or", most=1)
        'a or 2 others'
        """
        if most is not None and len(items) > most:
            more = len(items) - most
            items = [*items[:most], self.say_n("{n} other", "{n} others", more)]
        return format_list(list(items), style="or" if last == "or" else "standard", locale=self.locale)

    def named(self, values: Sequence[str]) -> str:
        """Values in quotation marks, as many as fit a sentence."""
        return self.listed([self.quoted(value) for value in values], most=_NAMED if len(values) > _NAMED + 1 else None)

    def quoted(self, text: str) -> str:
        """A text in quotation marks.

        >>> Language.of("en").quoted("low")
        '“low”'
        """
        return self.say("“{text}”", text=text)

    @staticmethod
    def raised(text: str) -> str:
        """Capitalise a text that begins a sentence; p% and names such as iPhone stay as they are.

        >>> Language.raised("women of all ages"), Language.raised("eGFR at admission")
        ('Women of all ages', 'eGFR at admission')
        """
        first, *_ = text.split(maxsplit=1) or [""]
        return text if first[1:] != first[1:].lower() or first[1:2] == "%" else text[:1].title() + text[1:]

    def day(self, iso: str) -> str:
        """Write an ISO date in words."""
        return format_date(date.fromisoformat(iso), "long", locale=self.locale)

    def period(self, info: PeriodInfo) -> str:
        """Write the days of a period in words; empty where the whole log is meant.

        >>> Language.of("en").period(PeriodInfo(label="2014", start="2014-01-01", end="2015-01-01", timezone=None))
        '1 January to 31 December 2014'
        """
        if info.start is None or info.end is None:
            return ""
        first, last = date.fromisoformat(info.start), date.fromisoformat(info.end) - timedelta(days=1)
        if first == last:
            return format_date(first, "long", locale=self.locale)
        start = format_date(
            first, "long" if first.year != last.year else _without_year(self.locale), locale=self.locale
        )
        return self.say("{first} to {last}", first=start, last=format_date(last, "long", locale=self.locale))


@lru_cache
def _without_year(locale: Locale) -> str:
    return str(locale.datetime_skeletons["MMMMd"].pattern)


@lru_cache(maxsize=100_000)
def _written(value: float, scale: int, decimals: int, locale: Locale) -> str:
    exact = Decimal(repr(value)).scaleb(scale)
    places = max(decimals, -int(exact.normalize().as_tuple().exponent), 0)
    pattern = "#,##0." + "0" * places if places else "#,##0"
    return format_decimal(exact, pattern, locale=locale).replace("-", "\N{MINUS SIGN}")


def _locale(tag: str, fallback: str) -> Locale:
    try:
        return Locale.parse(tag.replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return Locale.parse(fallback)


@lru_cache
def _catalogue(path: Path) -> gettext.GNUTranslations:
    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file, locale=path.parent.name))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def later(message: str) -> str:
    """Mark a message that is said where its language is known."""
    return message
