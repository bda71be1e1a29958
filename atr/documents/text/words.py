"""How one report is put into words: its language, with the nouns and titles of its programme."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from atr.core.arrays import Values
from atr.core.comparison_rows import joined
from atr.documents.text.language import Language
from atr.report import reader_view
from atr.report.model import AttributeInfo, Forms, Group, ProgrammeInfo, PublicReport
from atr.report.rate_ranges import rate_ranges
from atr.report.sampling import alpha_of


@dataclass(frozen=True)
class Nouns:
    """What a programme calls people and decisions; ``say`` and ``say_n`` are those of its language."""

    programme: ProgrammeInfo
    language: Language
    say: Callable[..., str]
    say_n: Callable[..., str]

    def listed(self, items: Iterable[str], **how: Any) -> str:
        """Join items for use in a sentence: :meth:`Language.listed`."""
        return self.language.listed(list(items), **how)

    @property
    def people(self) -> str:
        """What several persons are called."""
        forms = self.programme.person_noun.get(self.language.tag)
        return forms.other if forms else self.say("people")

    def persons(self, n: int) -> str:
        """A number of people, by the programme's noun."""
        forms = self.programme.person_noun.get(self.language.tag)
        return self._counted(n, forms) if forms else self.say_n("{n} person", "{n} people", n)

    def decisions(self, n: int) -> str:
        """A number of decisions, by the programme's noun."""
        forms = self.programme.decision_noun.get(self.language.tag)
        return self._counted(n, forms) if forms else self.say_n("{n} decision", "{n} decisions", n)

    @property
    def decision_noun(self) -> str:
        """What several decisions are called."""
        forms = self.programme.decision_noun.get(self.language.tag)
        return forms.other if forms else self.say("decisions")

    def _counted(self, n: int, forms: Forms) -> str:
        one = self.language.catalogue.ngettext("one", "other", n) == self.language.catalogue.ngettext("one", "other", 1)
        return f"{self.language.number(n)} {forms.one if one else forms.other}"


@dataclass(frozen=True)
class Words(Nouns):
    """The words of a report, by :meth:`of`."""

    report: PublicReport

    @staticmethod
    def of(report: PublicReport) -> Words:
        """The words of a report, in the language of its programme."""
        language = Language.of(report.programme.language)
        return Words(report.programme, language, language.say, language.say_n, report)

    @cached_property
    def attributes(self) -> dict[str, AttributeInfo]:
        """What the report says of each attribute, by name."""
        return {a.name: a for a in self.report.attributes}

    def titles(self, attributes: Iterable[str], *, last: str = "and") -> str:
        """Several attributes, or one, within a sentence."""
        known = self.attributes
        return self.language.listed([known[a].title if a in known else a for a in attributes], last=last)

    @property
    def sensitive(self) -> str:
        """The sensitive attributes, within a sentence."""
        return self.titles((a.name for a in self.report.attributes if a.role == "sensitive"), last="or")

    @property
    def public(self) -> str:
        """The public attributes, within a sentence."""
        return self.titles(a.name for a in self.report.attributes if a.role == "public")

    def group(self, group: Group) -> str:
        """Name a QID group by its public values; a rest group by those that all share, those that meet in it, and the
        attributes of which neither is told."""
        public = [a for a in self.report.attributes if a.role == "public"]
        told = group.public | {name: self.language.listed(v, last="or") for name, v in group.mixed.items()}
        named = [told[a.name] for a in public if a.name in told]
        if len(named) < len(public):
            hidden = self.titles(a.name for a in public if a.name not in told)
            several = self.say("{attributes} not shown on their own", attributes=hidden)
            named.append(
                several if named else self.say("people with {attributes} not shown on their own", attributes=hidden)
            )
        return ("; " if group.mixed else ", ").join(named)

    @property
    def level(self) -> str:
        """The level of intervals, in 100; empty where the log is no sample."""
        alpha = alpha_of(self.report)
        return "" if alpha is None else self.language.number(round(100 * (1 - alpha), 6))

    def did(self, outcome: str) -> str:
        """The outcome as a verb phrase of several people, as in "were scored low"."""
        phrases = self.programme.outcome_phrases.get(self.language.tag, {})
        return (
            phrases[outcome].other if outcome in phrases else self.say("had the outcome “{outcome}”", outcome=outcome)
        )

    def compared(self, attribute: str, label: str) -> str:
        """The people of a row of comparisons by an attribute or intersection, within a sentence."""
        by = next(by for by in self.report.compared if by.attribute == attribute)
        joint = next((row.values for row in by.rows if row.label == label and len(row.values) > 1), None)
        if joint is not None:
            values = self.listed(map(self.language.quoted, joint))
            return self.say("{people} of the groups {values}", people=self.people, values=values)
        known = self.parts[attribute].get(label)
        if known is None:
            return self.say("{people} of the group “{values}”", people=self.people, values=label)
        return self.who(by.attributes, known)

    @cached_property
    def rate_ranges(self) -> dict[tuple[str, str], tuple[float, float] | None]:
        """Between what the true rate of each compared group lies: :func:`~atr.report.rate_ranges.rate_ranges`."""
        return rate_ranges(self.report)

    @cached_property
    def parts(self) -> dict[str, dict[str, Values]]:
        """By attribute or intersection, the values that the labels of announced people stand for: those of each region,
        and those of the rows that it is in."""
        sides = reader_view.columns(self.report), reader_view.labels(self.report)
        return {
            by.attribute: {
                joined(values): values
                for side in sides
                for values in zip(*(side[name] for name in by.attributes), strict=True)
            }
            for by in self.report.compared
        }

    def who(self, attributes: Sequence[str], values: Sequence[str]) -> str:
        """The people with values of some attributes, within a sentence, as in "African-American women".

        By the programme's phrases where each value has one, and all but one say where the rest goes.
        """
        phrases = [
            self.attributes[a].group_phrases.get(self.language.tag, {}).get(value, "") if a in self.attributes else ""
            for a, value in zip(attributes, values, strict=True)
        ]
        nouns = [phrase for phrase in phrases if "{people}" not in phrase]
        if all(phrases) and len(nouns) <= 1:
            people = nouns[0] if nouns else self.people
            for phrase in phrases:
                people = phrase.replace("{people}", people) if "{people}" in phrase else people
            return people
        return self.say("{people} of the group “{values}”", people=self.people, values=", ".join(values))
