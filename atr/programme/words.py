"""What the documents call things in sentences, in the programme's own words and in each language it gives them in."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

from pydantic import AfterValidator, Discriminator, Tag

from atr.core.fields import Part, Text, how_written

Language = Literal["en", "de"]
LANGUAGES: frozenset[str] = frozenset(get_args(Language))
"""Those that a programme can give its words in."""
_SLOTS = ("{value}", "{people}")

_Words = TypeVar("_Words")


class Forms(Part):
    """A word or phrase beside one, and beside any other number, in the nominative."""

    one: Text
    other: Text


def _by_language(words: Any) -> bool:
    return isinstance(words, dict) and not LANGUAGES.isdisjoint(words)


def _how_many_languages(words: Any) -> str:
    return "[languages]" if _by_language(words) else "[words]"


PerLanguage = Annotated[
    Annotated[_Words, Tag("[words]")] | Annotated[dict[Language, _Words], Tag("[languages]")],
    Discriminator(_how_many_languages),
]
"""Words in the programme's language, or by language."""


def in_languages(words: _Words | dict[Language, _Words] | None, language: str) -> dict[str, _Words]:
    """Put words in order by language.

    Parameters
    ----------
    words
        As the programme gives them.
    language
        The programme's, which words are in that name none.

    Returns
    -------
    Language to words; empty where none are given.
    """
    if words is None:
        return {}
    return cast("dict[str, _Words]", words if _by_language(words) else {language: words})


def _with_known_slots(phrase: str) -> str:
    unknown = [slot for slot in re.findall(r"\{.*?\}", phrase) if slot not in _SLOTS]
    if unknown:
        raise ValueError(f"{unknown[0]} stands for nothing: there are {' and '.join(_SLOTS)}")
    return phrase


def _of_any_value(phrase: str) -> str:
    if "{value}" not in phrase:
        raise ValueError('a phrase for every value needs {value}, as in "{value} {people}"; or give each value its own')
    return phrase


_Phrase = Annotated[Text, AfterValidator(_with_known_slots)]
GroupPhrases = Annotated[
    Annotated[_Phrase, AfterValidator(_of_any_value), Tag("[plain]")] | Annotated[dict[Text, _Phrase], Tag("[keys]")],
    Discriminator(how_written),
]
"""What people of a value are called: by value, or one phrase for every value."""
