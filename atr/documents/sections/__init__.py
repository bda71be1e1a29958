"""The sections of the report in order: each is a module here, a template beside it, and a line below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from atr.documents.sections import fairness, glance, influence, method, provenance, rules
from atr.report.model import PublicReport


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report.

    Parameters
    ----------
    id
        Its template is ``report/sections/ID.jinja``; links lead to it by this name.
    title
        Its heading.
    context
        What its template finds as ``view``; ``parts`` in it are headings within the section, an id and a title each.
    """

    id: str
    title: str
    context: Callable[[PublicReport], Mapping[str, Any]] = lambda _: {}


SECTIONS = (
    Section("glance", "At a glance", glance.context),
    Section("rules", "Announced decision rules", rules.context),
    Section("fairness", "Fairness", fairness.context),
    Section("influence", "Influence of each input", influence.context),
    Section("notes", "Fidelity notes"),
    Section("quality", "Data quality"),
    Section("method", "Method and glossary", method.context),
    Section("contact", "Contact, and how to contest a decision"),
    Section("provenance", "Provenance", provenance.context),
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A numbered section of one report, or a part of one, with what its template needs."""

    id: str
    number: str
    title: str
    level: int = 2
    view: Mapping[str, Any] = field(default_factory=dict)


def numbered(report: PublicReport) -> list[Heading]:
    """The contents of a report: every section, each followed by its parts."""
    found = []
    for i, section in enumerate(SECTIONS, start=1):
        view = section.context(report)
        found.append(Heading(section.id, str(i), section.title, view=view))
        parts = enumerate(view.get("parts", ()), start=1)
        found += [Heading(id, f"{i}.{k}", title, level=3) for k, (id, title) in parts]
    return found
