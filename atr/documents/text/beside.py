"""What else is published of the same people, said in reports and in notes on records."""

from __future__ import annotations

from collections.abc import Sequence

from atr.documents.text.language import later
from atr.documents.text.words import Nouns
from atr.report.model import Beside

ADDS_UP = later("What both tell adds up: the bound of each alone does not hold for both together.")


def also_published(words: Nouns, releases: Sequence[Beside]) -> str:
    """Name the releases, one or more, and say what follows from them."""
    named = [
        words.say("report on {period}", period=other.period)
        if other.kind == "report"
        else words.say("released records of {period}", period=other.period)
        for other in releases
    ]
    shown = [
        name if other.programme == words.programme.name else f"{name} ({other.programme})"
        for name, other in zip(named, releases, strict=True)
    ]
    told = words.say("Of the same people: {releases}.", releases=words.listed(shown, most=4))
    return f"{told} {words.say(ADDS_UP)}"
