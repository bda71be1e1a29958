"""Where the lines of verdicts and other settings come from, in words."""

from __future__ import annotations

from pydantic import BaseModel

from atr.documents.text.words import Words
from atr.programme import FairnessPolicy


def of_four_fifths(words: Words) -> str:
    """Where the line of the p%-rule comes from: by the programme's own words, or else by its value."""
    policy = words.report.policy
    if policy.four_fifths_origin:
        return policy.four_fifths_origin
    if policy.four_fifths != 0.8:
        return by_publisher(words)
    return words.say(
        "29 CFR 1607.4(D), the four-fifths rule of the US Uniform Guidelines on Employee Selection Procedures"
    )


def of_parity_tolerance(words: Words) -> str:
    """Where the line of parity comes from: by the programme's own words, or else by its value."""
    policy = words.report.policy
    kept = chosen_by(words, FairnessPolicy, "parity_tolerance", policy.parity_tolerance)
    return policy.parity_tolerance_origin or kept


def by_publisher(words: Words) -> str:
    """Say that the publisher chose."""
    return words.say("the publisher’s choice")


def default_kept(words: Words) -> str:
    """Say that the publisher kept what the software has where nothing is stated."""
    return words.say("the software’s default, kept")


def chosen_by(words: Words, part: type[BaseModel], key: str, value: object) -> str:
    """Tell who chose a setting: the publisher, or the software whose default it is.

    Parameters
    ----------
    words
        The words of the report.
    part
        The part of the programme that has the setting.
    key, value
        Its name and its value.
    """
    return default_kept(words) if value == part.model_fields[key].default else by_publisher(words)
