"""Who is in the rows of a comparison where people are shown together, in words."""

from __future__ import annotations

from atr.documents.text.phrases import titles
from atr.documents.text.wording import count, named
from atr.report.model import ComparedBy, PublicReport


def who(report: PublicReport, by: ComparedBy) -> str:
    """State whom the rows leave out, and who is in a row of several values; empty where every value is a row."""
    said = []
    for row in by.rows:
        if len(row.values) > 1 or row.some:
            said.append(f"“{row.label}” is one row, for some people with these values are shown together only.")
        if row.some:
            has = "has a row" if len(row.some) == 1 else "have rows"
            said.append(f"It has some people with {named(row.some)} as well, which {has} of its own.")
        if row.left_out and not by.left_out:
            together = count(row.left_out, "person, who is", "people, who are")
            said.append(f"“{row.label}” is without some of {together} shown together with others.")
    if by.left_out:
        people = count(by.left_out, "person", "people")
        are = "is in none of these rows: that person is" if by.left_out == 1 else "are in none of these rows: they are"
        said.append(f"{people} {are} shown together with others, whatever their {titles(report, by.attributes)}.")
    return " ".join(said)
