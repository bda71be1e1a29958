"""What is said of released records: what was altered, what the column still tells, and for whom that holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from atr.core.display_text import UNKNOWN
from atr.documents.text.language import Language
from atr.documents.text.words import Nouns
from atr.records.model import GroupChannel, PublicRecords, Value

MOST_TOTALS = 8
"""Values whose totals are listed; those of all are in ``channel.json``."""
MOST_BECOME = 5
"""Values in the table of what each becomes, at most."""


@dataclass(frozen=True)
class RecordsWords(Nouns):
    """The words of released records, by :meth:`of`."""

    records: PublicRecords

    @staticmethod
    def of(records: PublicRecords) -> RecordsWords:
        """The words of released records, in the language of their programme."""
        language = Language.of(records.programme.language)
        return RecordsWords(records.programme, language, language.say, language.say_n, records)

    @property
    def column(self) -> str:
        """The released column, within a sentence."""
        return self.language.quoted(self.records.titles.get(self.records.column) or self.say("outcome"))

    @property
    def column_of_file(self) -> str:
        """The released column, with its name in the file where that is another."""
        named = self.column == self.language.quoted(self.records.column)
        return self.column if named else f"{self.column} ({self.records.column})"

    @property
    def hidden(self) -> str:
        """What is hidden, within a sentence."""
        return self.titles(self.records.hidden, last="or")

    def titles(self, names: tuple[str, ...], *, last: str = "and") -> str:
        """Several attributes, or one, within a sentence."""
        return self.listed([self.records.titles.get(name, name) for name in names], last=last)

    def in_100(self, share: float) -> str:
        """A share as so many in 100, a whole number where it is one at least."""
        ends = min(share, 1 - share)
        if 0 < ends < 0.01:
            few = float(f"{100 * ends:.1g}")
            return self.language.number(few if share < 0.5 else round(100 - few, 6))
        return self.language.number(round(100 * share))

    def value(self, value: Value) -> str:
        """A value of the column."""
        if value is None:
            return self.say("missing")
        return value if isinstance(value, str) else self.language.number(value)

    def group(self, group: GroupChannel) -> str:
        """The people of a group, by the values that they share."""
        named = [
            self.say("{attribute} unknown", attribute=self.records.titles.get(name, name))
            if value == UNKNOWN
            else value
            for name, value in group.values.items()
        ]
        return ", ".join(named) or self.say("people of several groups")


def finding(words: RecordsWords) -> str:
    """Say in one sentence what was altered."""
    records, say = words.records, words.say
    if records.loss == 0:
        return say("The column {column} is as in the log.", column=words.column)
    known = {"n": words.in_100(records.loss), "drawn": words.in_100(records.drawn_anew), "column": words.column}
    if records.positive is not None:
        known["decisions"] = words.decision_noun
        if records.channel == "best":
            return say("About {n} in 100 {decisions} had their outcome altered at random.", **known)
        return say(
            "About {drawn} in 100 {decisions} had their outcome drawn anew at random; about {n} in 100 have another "
            "now.",
            **known,
        )
    if records.channel == "best":
        return say("About {n} in 100 values of {column} were altered at random.", **known)
    return say(
        "About {drawn} in 100 values of {column} were drawn anew at random; about {n} in 100 differ from the log now.",
        **known,
    )


def outcomes(words: RecordsWords) -> str:
    """Say what the outcomes mean, by the phrases of the programme, and which is favourable; empty of other columns."""
    records, phrases = words.records, words.programme.outcome_phrases.get(words.language.tag, {})
    if records.positive is None or len(records.values) > MOST_TOTALS:
        return ""
    said = []
    for value in map(words.value, records.values):
        name, phrase = words.language.quoted(value), phrases[value].one if value in phrases else ""
        if value == records.positive:
            favourable = words.say("{outcome} (the favourable outcome) means: {phrase}", outcome=name, phrase=phrase)
            said.append(favourable if phrase else words.say("{outcome} is the favourable outcome", outcome=name))
        elif phrase:
            said.append(words.say("{outcome} means: {phrase}", outcome=name, phrase=phrase))
    return f"{'; '.join(said)}." if said else ""


def released(words: RecordsWords) -> list[str]:
    """Say what is in the file and what is not, and how the column was altered, a sentence each."""
    records, say = words.records, words.say
    known = {"column": words.column_of_file, "attributes": words.titles(records.attributes), "hidden": words.hidden}
    rows = say("The file has {decisions}, a row each.", decisions=words.decisions(records.people))
    if records.attributes:
        columns = words.say_n(
            "It shows {attributes} as the log has it, and the column {column}.",
            "It shows {attributes} as the log has them, and the column {column}.",
            len(records.attributes),
            **known,
        )
        places = say("the values of all rows alike in {attributes}", **known)
    else:
        columns = say("It shows the column {column} alone.", **known)
        places = say("the values of all rows")
    absent = say("It does not show {hidden}, and what the column tells of that is bounded.", **known)
    if records.channel == "best":
        how = say("Values that go with some value of {hidden} more than with others were moved to others.", **known)
    else:
        how = say(
            "A lot decided on every row: with a chance of {alpha} in 100 its value was replaced by one that was drawn "
            "from {places}, and may be the same; else it stayed.",
            alpha=_alphas(words),
            places=places,
        )
    kept = say("In later versions with the same chance each row keeps its lot, so that nobody can average it away.")
    meant = outcomes(words)
    return [rows, columns, *([meant] if meant else []), absent, *([how, kept] if records.loss else [])]


def _alphas(words: RecordsWords) -> str:
    """How likely a row is drawn anew, in 100: in all groups, or from the least to the most."""
    low, high = (words.language.points(of(g.alpha for g in words.records.groups)) for of in (min, max))
    return low if low == high else words.say("{low} to {high}", low=low, high=high)


def told(words: RecordsWords) -> list[tuple[str, str, str, str, str]]:
    """Say what the column tells, before and after: measure, before, after, bound and what it means."""
    records, say, hidden = words.records, words.say, words.hidden
    before, after, bounds = records.before, records.after, records.bounds
    rows = [
        (say("Log-lift"), before.log_lift, after.log_lift, bounds.get("max_log_lift")),
        (say("Local differential privacy"), before.ldp, after.ldp, bounds.get("max_ldp")),
        (say("Mutual information"), before.mutual_information, after.mutual_information, None),
    ]
    meanings = [
        say("How much likelier, or less likely, seeing a value makes any value of {hidden}.", hidden=hidden),
        say("How much likelier a value is with one value of {hidden} than with another.", hidden=hidden),
        say("What a value tells of {hidden} on average, over all rows; 0 is nothing.", hidden=hidden),
    ]  # fmt: skip
    factors = [_times(words, after.log_lift), _times(words, after.ldp), ""]
    return [
        (name, _nats(words, was), _nats(words, now), "" if bound is None else words.language.number(bound),
         f"{meaning} {factor}".strip())
        for (name, was, now, bound), meaning, factor in zip(rows, meanings, factors, strict=True)
    ] + [
        (say("Values altered"), words.language.percent(0), words.language.percent(round(records.loss, 3)), "",
         say("The share of rows that are expected to have another value than in the log."))
    ]  # fmt: skip


def _nats(words: RecordsWords, nats: float | None) -> str:
    return words.say("infinite") if nats is None else words.language.number(nats, decimals=3)


def _times(words: RecordsWords, nats: float | None) -> str:
    return "" if nats is None else words.say("At most {n} times.", n=factor(words, nats))


def factor(words: RecordsWords, nats: float) -> str:
    """The factor that some nats are the logarithm of, rounded up."""
    return words.language.number(math.ceil(math.exp(nats) * 100 - 1e-9) / 100, decimals=2)


def sure(words: RecordsWords) -> str:
    """Say in one sentence how much surer of what is hidden a reader becomes."""
    lift, known = words.records.after.log_lift, {"hidden": words.hidden, "column": words.column}
    if lift is None:
        return words.say("In some group a value of {column} still rules out a value of {hidden}.", **known)
    if lift == 0:
        return words.say("Within its group, a row tells nothing of {hidden}.", **known)
    if not words.records.attributes:
        return words.say(
            "Seeing a row changes the chance of any value of {hidden} by a factor of at most {n}.",
            n=factor(words, lift),
            **known,
        )
    return words.say(
        "Within its group, seeing a row changes the chance of any value of {hidden} by a factor of at most {n}.",
        n=factor(words, lift),
        **known,
    )


def totals(words: RecordsWords) -> list[tuple[str, str, str]]:
    """The most frequent values in order, each with its people in the log and the standard error of its rows."""
    records, number = words.records, words.language.number
    every, errors = records.totals, records.standard_errors
    shown = np.sort(np.argsort(-every, kind="stable")[:MOST_TOTALS]).tolist()
    return [(words.value(records.values[x]), number(int(every[x])), number(math.ceil(errors[x]))) for x in shown]


def becomes(words: RecordsWords) -> list[tuple[str, list[str]]]:
    """Of 100 rows with each value in the log, how many are expected to have each value in the file, over all groups.

    Empty where the chances are not told, or values are too many for a table.
    """
    records = words.records
    if records.channel == "best" or len(records.values) > MOST_BECOME or not records.loss:
        return []
    rows = np.sum([np.array(group.totals)[:, None] * group.markov for group in records.groups], axis=0)
    shares = rows / rows.sum(axis=1, keepdims=True)
    return [
        (words.value(value), [words.in_100(share) for share in of])
        for value, of in zip(records.values, shares.tolist(), strict=True)
    ]


def on_totals(words: RecordsWords) -> list[str]:
    """Say which totals stay right, and what does not."""
    records, say = words.records, words.say
    said = [
        say("Rows of each value are expected to be as many as in the log, of each group and of all together."),
        say("Chance moves them, in about 95 of 100 cases by less than two standard errors.")
        if records.channel == "markov"
        else say("Chance moves them, in at least about 95 of 100 cases by less than two standard errors."),
    ]
    if len(records.values) > MOST_TOTALS:
        said.append(
            say(
                "These are the {k} most frequent of {n} values; channel.json has all, by group.",
                k=words.language.number(MOST_TOTALS),
                n=words.language.number(len(records.values)),
            )
        )
    if records.loss and len({group.alpha for group in records.groups}) == 1:
        said.append(
            say("No differences by {hidden} within a group are expected to be left.", hidden=words.hidden)
            if records.alpha == 1
            else say(
                "Differences by {hidden} within a group shrink to {n} in 100 of what they were.",
                hidden=words.hidden,
                n=words.language.points(round(1 - records.alpha, 3)),
            )
        )
    return said


def whom(words: RecordsWords) -> str:
    """Say for whom the bounds hold."""
    records, say, known = words.records, words.say, {"hidden": words.hidden, "column": words.column}
    said = [
        say(
            "For readers who know of a person what the row shows, and how common values of {hidden} are in its group.",
            **known,
        )
    ]
    if records.after.ldp is not None:
        said.append(
            say(
                "Whoever starts from another belief about the person changes it by a factor of at most {n} (local "
                "differential privacy).",
                n=factor(words, records.after.ldp),
            )
        )
    if records.channel == "best":
        said += [
            say(
                "All this is assumed of readers who do not know a person’s own value of {column}, nor anything that "
                "determines it: the publisher states that none does.",
                **known,
            ),
            say("Whoever does can learn {hidden} from a value that was altered.", **known),
        ]
    else:
        said.append(
            say(
                "Whoever knows a person’s own value of {column} learns nothing more of {hidden}: the lot does not "
                "depend on it.",
                **known,
            )
        )
    return " ".join(said)


def not_covered(words: RecordsWords) -> list[str]:
    """Say what is not bounded, as ends of a sentence."""
    records, say = words.records, words.say
    known: Mapping[str, Any] = {"hidden": words.hidden, "column": words.column, "people": words.people}
    found = []
    if records.attributes:
        shown = words.titles(records.attributes)
        found.append(
            words.say_n(
                "what {attributes} tells of {hidden}: a reader sees it anyway",
                "what {attributes} tell of {hidden}: a reader sees them anyway",
                len(records.attributes),
                attributes=shown,
                **known,
            )
        )
    if records.not_covered:
        found.append(say("what a row tells of {attributes}", attributes=words.titles(records.not_covered, last="or")))
    return [
        *found,
        say("what a row tells of finer values than the publisher tells apart"),
        say("what several rows of one person, where there are some, tell together: it adds up"),
        say("what those can work out who know {column} of all others in a group, since totals are exact", **known),
    ]


def alpha(words: RecordsWords) -> str:
    """Say how α was chosen; which group decided it only where each group has its own."""
    records, say, number = words.records, words.say, words.language.number
    alphas = {group.alpha for group in records.groups}
    if not records.bounds:
        return say("The publisher set α to {alpha}.", alpha=number(records.alpha))
    if len(records.groups) == 1:
        return say("{alpha}, the smallest that keeps the bound, rounded up.", alpha=number(records.alpha))
    if len(alphas) == 1:
        return say(
            "{alpha} for all {n} groups: the smallest that keeps the bound in each of them, rounded up. Which group "
            "needs as much is not told, as it depends on {hidden}.",
            alpha=number(records.alpha),
            n=number(len(records.groups)),
            hidden=words.hidden,
        )
    deciding = max(records.groups, key=lambda group: group.alpha)
    return say(
        "Each group has its own, the smallest that keeps the bound in it, rounded up: from {low} to {high}. The "
        "largest is that of the group {group} ({people}).",
        low=number(min(alphas)),
        high=number(max(alphas)),
        group=words.language.quoted(words.group(deciding)),
        people=words.persons(deciding.people),
    )


def groups(words: RecordsWords) -> str:
    """Say how many groups there are, and which are joined of smaller ones."""
    records, say, number = words.records, words.say, words.language.number
    sizes, pooled = [group.people for group in records.groups], sum(group.pooled for group in records.groups)
    if len(sizes) == 1:
        said = [say("All rows are one group.")]
    else:
        low, high = number(min(sizes)), number(max(sizes))
        said = [say("There are {all} groups, of {low} to {high} people.", all=number(len(sizes)), low=low, high=high)]
    if pooled:
        said.append(
            words.say_n(
                "{n} of them is joined of groups that are too small; its rows show only what all in it share.",
                "{n} of them are joined of groups that are too small; their rows show only what all in them share.",
                pooled,
            )
        )
    return " ".join([*said, say("Everybody has a row.")])


def rows(words: RecordsWords) -> str:
    """Say what a row tells of a person: where nothing had to be altered, what was decided."""
    say, exact = words.say, sum(group.people for group in words.records.groups if not group.alpha)
    if exact == words.records.people:
        return say("Nothing had to be altered: every row has its value of the log.")
    use = say("Count and compare rows; use none on its own.")
    if not exact:
        return " ".join([say("A row is no statement about a person: its value may be another than in the log."), use])
    kept = words.say_n(
        "{n} row is in a group that was not altered (α is 0): it has its value of the log.",
        "{n} rows are in groups that were not altered (α is 0): they have their values of the log.",
        exact,
    )
    other = say("Any other is no statement about a person: its value may be another than in the log.")
    return " ".join([kept, other, use])
