"""Who is in the rows of a table of comparisons, and who is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from atr.core.comparison_rows import joined
from atr.core.display_text import ANY
from atr.documents.comparisons import Who, values_of
from atr.documents.text.words import Words
from atr.report import empty_categories
from atr.report.model import ComparedBy, ComparedRow

MOST_SAME = 5
"""Groups of people met before that a sentence names."""


def of(words: Words, by: ComparedBy, people: Mapping[Who, frozenset[int]]) -> list[str]:
    """Say which rows are of several values or without some people, who is in none, and which values nobody has.

    Parameters
    ----------
    words
        Those of the report.
    by
        The attribute or intersection.
    people
        The regions of each group, from :func:`~atr.documents.comparisons.same_people`.

    Returns
    -------
    The sentences.
    """
    found = [said for row in by.rows for said in _row(words, by, row)]
    if by.left_out:
        found.append(
            words.say_n(
                "{n} person is in no row, shown together with others whatever the value.",
                "{n} people are in no row, shown together with others whatever their value.",
                by.left_out,
            )
        )
    same = _met_before(words, by, people)
    if same:
        groups = words.listed(same, most=MOST_SAME)
        found.append(words.say("The same people as in a table above: {groups}.", groups=groups))
    return [*found, *_absent(words, by)]


def not_compared(words: Words, by: ComparedBy) -> str:
    """Say that nobody is compared by an attribute or intersection, and who the only group is."""
    attributes, found = words.titles(by.attributes), values_of(words.report, by)
    groups = {values for values in found if ANY not in values}
    said = [words.say("Nobody is compared by this: {attributes}.", attributes=attributes)]
    if len(groups) == 1:
        (values,) = groups
        together = next((row.values for row in by.rows if row.label == joined(values)), ())
        if len(by.attributes) == 1 and len(together) > 1:
            said.append(words.say("{values} are shown as one group.", values=words.language.named(together)))
        elif len(groups) == len(set(found)):
            said.append(words.say("Only “{values}” is announced.", values=", ".join(values)))
        else:
            said.append(words.say("Only “{values}” is shown on its own.", values=", ".join(values)))
    return " ".join([*said, *_absent(words, by)])


def _row(words: Words, by: ComparedBy, row: ComparedRow) -> Iterator[str]:
    if len(row.values) > 1 or row.some:
        yield words.say("“{label}” is one row: some of its people are shown together only.", label=row.label)
    if row.some:
        yield words.say(
            "“{label}” has some people of these rows too: {values}.",
            label=row.label,
            values=words.language.named(row.some),
        )
    if row.left_out and not by.left_out:
        yield words.say_n(
            "“{label}” may be without {n} person shown together with others.",
            "“{label}” is without some of {n} people shown together with others.",
            row.left_out,
            label=row.label,
        )


def _absent(words: Words, by: ComparedBy) -> Iterator[str]:
    if empty_categories.too_many(words.report, by):
        most = words.language.number(empty_categories.LISTED)
        yield words.say(
            "Combinations that nobody has are not listed: there are more than {most} to look at.", most=most
        )
    elif by.absent:
        yield words.say("Nobody announced has these: {values}.", values=words.language.named(by.absent))


def _met_before(words: Words, by: ComparedBy, people: Mapping[Who, frozenset[int]]) -> list[str]:
    """The groups that are the same people as a group of an earlier grouping, each with that."""
    names = [b.attribute for b in words.report.compared]
    earlier = names[: names.index(by.attribute)]
    first: dict[frozenset[int], str] = {}
    for (attribute, group), regions in people.items():
        if attribute in earlier:
            first.setdefault(regions, group)
    return [
        words.say("“{group}” (as “{earlier}”)", group=group, earlier=first[regions])
        for (attribute, group), regions in people.items()
        if attribute == by.attribute and regions in first
    ]
