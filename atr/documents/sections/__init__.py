"""The sections of the report in order: each is a module here, a template beside it, and a line below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from atr.documents.sections import fairness, glance, influence, method, provenance, rules
from atr.report.model import PublicReport

Context = Callable[[PublicReport], Mapping[str, Any]]
"""Variables that a template finds as ``view``; ``parts`` are headings within the section, an id and a title each."""

SECTIONS: dict[str, tuple[str, Context | None]] = {
    "glance": ("At a glance", glance.context),
    "rules": ("Announced decision rules", rules.context),
    "fairness": ("Fairness", fairness.context),
    "influence": ("Influence of each input", influence.context),
    "notes": ("Fidelity notes", None),
    "quality": ("Data quality", None),
    "method": ("Method and glossary", method.context),
    "contact": ("Contact, and how to contest a decision", None),
    "provenance": ("Provenance", provenance.context),
}
"""By id the title and what the template ``report/sections/ID.jinja`` needs beside the report."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A numbered section of one report, or a part of one, with what its template needs."""

    id: str
    number: str
    title: str
    level: int = 2
    view: Mapping[str, Any] = field(default_factory=dict)


def numbered(report: PublicReport) -> list[Heading]:
    """The headings of a report in order: every section, each followed by its parts."""
    found = []
    for i, (id, (title, context)) in enumerate(SECTIONS.items(), start=1):
        view = context(report) if context else {}
        found.append(Heading(id, str(i), title, view=view))
        parts = enumerate(view.get("parts", ()), start=1)
        found += [Heading(part, f"{i}.{k}", about, level=3) for k, (part, about) in parts]
    return found
