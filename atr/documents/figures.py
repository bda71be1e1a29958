"""The figures of fairness as tables print them: values, ranges, intervals, tests, verdicts and headings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from atr.documents.groups import chance_could_turn
from atr.documents.text.words import Words
from atr.measures import MEASURES
from atr.report.model import Fairness
from atr.report.rounding import bounds

LEAST_P = 0.001


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one report: ratios as numbers, differences in points of 100."""

    words: Words

    def counts(self, e: Fairness, side: int) -> tuple[str, str]:
        """The people of one of the two groups, and how many of 100 of them had the outcome."""
        return self.words.language.number(e.people[side]), self.words.language.points(e.rates[side])

    def amount(self, x: float, *, ratio: bool) -> str:
        """Write a ratio, or a difference in points."""
        digits, language = min(self.words.report.policy.digits, 3), self.words.language
        return language.number(x, decimals=digits) if ratio else language.points(x, decimals=max(0, digits - 2))

    def between(self, ends: tuple[float | None, float | None], *, ratio: bool) -> str:
        """Write a range; an end that is None is not bounded."""
        low, high = (None if end is None else self.amount(end, ratio=ratio) for end in ends)
        if low is None and high is None:
            return self.words.say("not bounded")
        if low is None or high is None:
            more = high is None
            return self.words.say("{low} or more", low=low) if more else self.words.say("{high} or less", high=high)
        return self.words.say("{low} to {high}", low=low, high=high)

    def value(self, e: Fairness) -> str:
        """The announced figure."""
        return self.words.say("no ratio") if e.value is None else self.amount(e.value, ratio=e.is_ratio)

    def range(self, e: Fairness) -> str:
        """What the true figure lies between."""
        if e.reason == "different_times":
            return self.words.say("times differ")
        if e.range == (e.value, e.value):
            return self.words.say("exact") if e.value is not None else self.words.say("not bounded")
        return self.between(e.range, ratio=e.is_ratio)

    def interval(self, e: Fairness) -> str:
        """What another sample could have had; empty where there is none."""
        return "" if e.sampling is None else self.between(e.sampling.interval, ratio=e.is_ratio)

    def p(self, e: Fairness) -> str:
        """The adjusted p value; empty where there is none."""
        if e.sampling is None:
            return ""
        p, number = e.sampling.adjusted_p_value, self.words.language.number
        return f"< {number(LEAST_P)}" if p < LEAST_P else number(p)

    def verdict(self, e: Fairness) -> str:
        """The verdict, and why it cannot be told where it cannot; empty where no line is drawn."""
        if e.reason == "too_few_people":
            return self.words.say("too few people")
        if e.reason == "different_times":
            return self.words.say("numbers of different times")
        if e.verdict is None or e.threshold is None:
            return ""
        if e.verdict == "met":
            return self.words.say("met; close") if by_chance(e) else self.words.say("met")
        if e.verdict == "not_met":
            return self.words.say("not met; close") if by_chance(e) else self.words.say("not met")
        lines = self.words.listed(self._lines_inside(e, e.threshold), last="and")
        return self.words.say("cannot be told: {lines} in the range", lines=lines)

    def _lines_inside(self, e: Fairness, line: float) -> list[str]:
        if not e.is_ratio:
            return [self.words.language.points(line)]
        low, high = bounds(e.range)
        ends = [end for end in (line, 1 / line if line else math.inf) if low <= end <= high] or [line]
        return [self.line(end, line) for end in ends]

    def line(self, end: float, line: float) -> str:
        """Write an end of the line of ratios: one over it in decimals where they are few, else as a fraction."""
        number = self.words.language.number
        return number(end) if end == line or len(repr(end)) <= 6 else f"1/{number(line)}"

    def heading(self, e: Fairness) -> str:
        """What the figures under a heading are, and between which lines they are met."""
        say, line = self.words.say, e.threshold
        if e.is_ratio:
            if line is None:
                return say("Ratio of rates")
            return say("Ratio of rates: met from {low} to {high}", low=self.line(line, line), high=self._inverse(line))
        if line is None:
            return say("Difference in points")
        return say("Difference in points: met up to {line}", line=self.words.language.points(line))

    def _inverse(self, line: float) -> str:
        return self.line(1 / line if line else math.inf, line)

    def heading_of_outcome(self, e: Fairness) -> str:
        """As :meth:`heading`, of an outcome that has no line."""
        return self.words.say("Ratio of rates of the outcome “{outcome}”", outcome=e.outcome)

    def heading_of_pairs(self, e: Fairness) -> str:
        """As :meth:`heading`, of every two other groups."""
        if MEASURES[e.measure].scale == "ratio":
            return self.words.say("Other pairs: ratio of rates")
        return self.words.say("Other pairs: difference in points")

    def heading_of_class(self, e: Fairness) -> str:
        """As :meth:`heading`, of one class of people who are alike."""
        return self.words.say("{class_name} (difference in points)", class_name=self.class_name(e.condition))

    def heading_over_classes(self, e: Fairness) -> str:
        """As :meth:`heading`, of all such classes."""
        n = e.classes[1] if e.classes else 1
        return self.words.say_n("The {n} class (difference in points)", "All {n} classes (difference in points)", n)

    def class_name(self, condition: Mapping[str, str]) -> str:
        """Name a class of people by the attributes in which they are alike, and their values."""
        titles = self.words.attributes
        return ", ".join(f"{titles[a].title if a in titles else a}: {value}" for a, value in condition.items())

    def over_classes(self, e: Fairness, group: str) -> str:
        """Name a row over all classes: of the largest difference, or of the mean, of how many classes."""
        kept, of_all = e.classes or (1, 1)
        if e.summary == "worst_class":
            said = self.words.say("{group}: largest ({name})", group=group, name=self.class_name(e.worst_condition))
        else:
            said = self.words.say("{group}: mean", group=group)
        if kept == of_all:
            return said
        number = self.words.language.number
        counted = self.words.say("{kept} of {all} classes", kept=number(kept), all=number(of_all))
        return f"{said}; {counted}"


def by_chance(e: Fairness) -> bool:
    """Whether chance could turn the verdict of a ratio."""
    return e.is_ratio and chance_could_turn(e)
