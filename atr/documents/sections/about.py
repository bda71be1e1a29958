"""What this is: what is decided, by whom and about whom, and what a register of algorithms asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr.documents.text import missing
from atr.documents.text.language import later
from atr.documents.text.words import Words

TITLE = later("What this is")
Row = tuple[str, str]
"""What a row is about, and what is stated; empty where nothing is."""


def context(words: Words) -> Mapping[str, Any] | None:
    """``finding``, a sentence; rows of ``facts``, of the ``register``, and of ``terms`` that the pages use."""
    return {"finding": _finding(words), "facts": _facts(words), "register": _register(words), "terms": _terms(words)}


def _finding(words: Words) -> str:
    programme, period = words.report.programme, words.language.period(words.report.period)
    known = {
        "decisions": words.decisions(words.report.coverage.decisions),
        "system": programme.system.name,
        "place": programme.place,
        "period": period,
    }
    if programme.place and period:
        return words.say("This report is about {decisions} by {system} in {place}, {period}.", **known)
    if programme.place:
        return words.say("This report is about {decisions} by {system} in {place}.", **known)
    if period:
        return words.say("This report is about {decisions} by {system}, {period}.", **known)
    return words.say("This report is about {decisions} by {system}.", **known)


def _facts(words: Words) -> list[Row]:
    say, system = words.say, words.report.programme.system
    return [
        *(() if system.purpose else ((say("What is decided"), ""),)),
        (say("The outcomes"), _outcomes(words)),
        (say("Who decides"), system.human_review),
        (say("What the system reads"), _inputs(words)),
        (say("Who is missing"), " ".join([missing.counted(words), *missing.left_out(words), *missing.together(words)])),
        (say("How the log was drawn"), _drawn(words)),
        (say("What it cannot tell"), _cannot_tell(words)),
    ]


def _outcomes(words: Words) -> str:
    report, language = words.report, words.language
    rate, favourable = report.coverage.rate, language.quoted(report.positive)
    said = [words.say("{outcome} is the favourable outcome here.", outcome=favourable)]
    if rate:
        parts = [
            words.say(
                "{outcome}, {number} in 100", outcome=language.quoted(outcome), number=language.points(rate[outcome])
            )
            for outcome in report.outcomes
        ]
        said.insert(
            0, words.say("Of the {people} counted: {parts}.", people=words.people, parts=language.listed(parts))
        )
    return " ".join(said)


def _inputs(words: Words) -> str:
    used = {
        kind: [a.name for a in words.report.attributes if a.used_by_system == kind] for kind in ("yes", "no", "unknown")
    }
    said = [words.report.programme.system.inputs]
    for kind, message in (
        ("yes", later("It reads {attributes}.")),
        ("no", later("It does not read {attributes}.")),
        ("unknown", later("Whether it reads {attributes} is not stated.")),
    ):
        if used[kind]:
            last = "and" if kind == "yes" else "or"
            said.append(words.say(message, attributes=words.titles(used[kind], last=last)))
    return " ".join(filter(None, said))


def _drawn(words: Words) -> str:
    sampling = words.report.policy.sampling
    if sampling is None:
        return ""
    if sampling.coverage == "whole":
        return words.say("The log holds all {decisions} of the period.", decisions=words.decision_noun)
    return words.say(
        "The log is taken for a sample of more such cases; intervals say how far chance could move a figure."
    )


def _cannot_tell(words: Words) -> str:
    return words.say(
        "Why one person had one outcome; whether the {decisions} were right; why rates differ. Every row counts as one "
        "person.",
        decisions=words.decision_noun,
    )


def _register(words: Words) -> list[Row]:
    say, system = words.say, words.report.programme.system
    name = (
        say("{system}, version {version}", system=system.name, version=system.version)
        if system.version
        else system.name
    )
    return [
        (say("System"), name),
        (say("Owner"), system.owner),
        (say("Supplier"), system.supplier),
        (say("Legal basis"), system.legal_basis),
        (say("Accuracy, error rates"), system.accuracy),
        (say("Risks assessed"), system.risks),
        (say("Alternatives considered"), system.alternatives),
        (say("Complaints and reversals"), system.complaints),
    ]


def _terms(words: Words) -> list[Row]:
    say, report = words.say, words.report
    terms = [
        (say("In 100"), say("Of 100 {people}, how many {did}.", people=words.people, did=words.did(report.positive))),
        (
            say("Could be chance"),
            say("With other {people} like these the difference could come out the other way.", people=words.people),
        ),
        (say("Cannot be told"), say("What is announced allows both fewer and more.")),
        (
            say("Alike"),
            say("With the same values, as {annex} lists them.", annex=words.say("annex {number}", number="A")),
        ),
    ]
    if report.fidelity.kind == "limits":
        ceiling = words.language.percent(report.policy.max_confidence)
        terms[1:1] = [
            (say("Limits"), say("Two numbers between which the true number in 100 lies.")),
            (
                say("Not told"),
                say(
                    "No limits are given: {people} are too few, or limits would let a reader be more than {ceiling} "
                    "sure of a person’s {sensitive}.",
                    people=words.people,
                    ceiling=ceiling,
                    sensitive=words.sensitive,
                ),
            ),
        ]
    return terms
