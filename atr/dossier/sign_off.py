"""What a reviewer confirms by approving: a short list that the dossier shows and the ledger keeps."""

from __future__ import annotations

from atr.warehouse.ledger import Kind

_CHANGES = {
    "warnings_seen": "I have read what is to be looked at first, and accept it.",
    "contact_right": "Publisher, contact, how to contest, and what is said of the system are right.",
}
POINTS: dict[Kind, dict[str, str]] = {
    "report": {
        "quotes_read": "I have read the sentences that readers will quote; each may stand alone.",
        "told_seen": "I know which people the report tells of only widely, or not at all, and who is left out.",
        "true_figures_seen": "I have compared the published figures with the true ones; none misleads.",
        "changes_seen": "I know what changed since the last report and version, and in the log.",
        **_CHANGES,
    },
    "records": {
        "note_read": "I have read the note; it says what was altered, and for whom the bounds hold and for whom not.",
        "bound_right": "I know what the column tells before and after, and what other bounds would cost.",
        "readers_right": "What is assumed of readers is true, above all of what they know of a person's own value.",
        "changes_seen": "I know what changed since the version before, and what both versions tell together.",
        **_CHANGES,
    },
}
"""What is confirmed, by kind of release and by the ids that the ledger keeps."""


def confirmed(kind: Kind) -> str:
    """The ids of all points, as the ledger keeps them: a release is approved with all of them or not at all."""
    return ", ".join(POINTS[kind])
