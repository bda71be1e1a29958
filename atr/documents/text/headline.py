"""The headline in words."""

from __future__ import annotations

from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.headline import Headline, Remains

_NOTHING = {
    "none": later("By {attributes}, the groups compared {did} equally often."),
    "could_be_chance": later("No difference by {attributes} can be told from chance."),
    "cannot_be_told": later("Whether groups differ by {attributes} cannot be told from what is announced."),
    "different_times": later("Groups by {attributes} are of different times and are not compared."),
    "too_few": later("Too few {people} are counted to compare groups by {attributes}."),
    "one_group": later("Only one group by {attributes} is counted, so there is nothing to compare."),
}
_REMAINS = {
    "larger": later("Among {people} alike in {attributes} the difference is larger."),
    "nearly_all": later("Nearly all of the difference remains among {people} alike in {attributes}."),
    "three_quarters": later("About three quarters of the difference remain among {people} alike in {attributes}."),
    "half": later("About half of the difference remains among {people} alike in {attributes}."),
    "quarter": later("About a quarter of the difference remains among {people} alike in {attributes}."),
    "little": later("Little of the difference remains among {people} alike in {attributes}."),
    "none_told": later("Whether any of the difference remains among {people} alike in {attributes} cannot be told."),
    "reversed": later("Among {people} alike in {attributes} the difference goes the other way."),
    "not_told": later("How much of the difference remains among {people} otherwise alike cannot be told."),
}


def said(words: Words, headline: Headline) -> str:
    """State a headline in one to three sentences."""
    if headline.attribute is None or headline.groups is None or headline.in_hundred is None:
        if headline.id in _NOTHING and headline.compared:
            compared = words.titles(headline.compared, last="or")
            did = words.did(words.report.positive)
            return words.say(_NOTHING[headline.id], attributes=compared, people=words.people, did=did)
        return words.say("No groups of {people} are compared.", people=words.people)
    group, reference = (words.compared(headline.attribute, label) for label in headline.groups)
    n, m = map(words.language.number, headline.in_hundred)
    known = {"n": n, "m": m, "group": group, "reference": reference, "did": words.did(words.report.positive)}
    if headline.id == "about_equal":
        return words.language.raised(
            words.say("About {n} in 100 {group} {did}, and about as many {reference}.", **known)
        )
    gap = words.language.raised(words.say("{n} in 100 {group} {did}, against {m} in 100 {reference}.", **known))
    return gap if headline.remains is None else f"{gap} {remains(words, headline.remains)}".strip()


def remains(words: Words, found: Remains) -> str:
    """State how much of a gap remains among people alike, and whether that is of few."""
    attributes, raised = words.titles(found.alike_in), words.language.raised
    if found.id == "not_told" or not found.alike_in:
        return raised(words.say(_REMAINS["not_told"], people=words.people)) if found.alike_in else ""
    text = raised(words.say(_REMAINS[found.id], people=words.people, attributes=attributes))
    if not found.few_people:
        return text
    a, b = map(words.language.number, found.people)
    few = words.say("That is of few: {a} and {b} are alike.", a=a, b=b)
    return f"{text} {few}"
