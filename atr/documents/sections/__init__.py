"""The sections of the report in order: each is a module here, a template beside it, and a line below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from atr.documents.sections import (
    about,
    alike,
    all_rules,
    comparisons,
    found,
    groups,
    like_people,
    method,
    nothing,
    over_time,
    rules,
    settings,
    shares,
    trust,
)
from atr.documents.text.words import Words

PAGES: tuple[ModuleType, ...] = (found, about, groups, alike, rules, shares, over_time, trust, nothing)
"""What was found, a page each. A module has a ``TITLE`` and ``context(words)``, which is None where it has nothing to
say; its template is ``report/sections/NAME.jinja``, which finds the context as ``view``."""
ANNEX: tuple[ModuleType, ...] = (all_rules, comparisons, like_people, method, settings)
"""The tables and the method."""


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered section of one report, with what its template needs."""

    id: str
    number: str
    title: str
    view: Mapping[str, Any]
    annex: bool = False


def numbered(words: Words) -> list[Section]:
    """The sections of a report in order: pages by numbers, those of the annex by letters."""
    sections = list[Section]()
    for modules, numbers in ((PAGES, iter("12345678")), (ANNEX, iter("ABCDE"))):
        for module in modules:
            view = module.context(words)
            if view is not None:
                id = module.__name__.rpartition(".")[2]
                title = view.get("heading") or words.say(module.TITLE)
                sections.append(Section(id, next(numbers), title, view, annex=modules is ANNEX))
    return sections
