"""What a reviewer confirms by approving: a short list that the dossier shows and the ledger keeps."""

from __future__ import annotations

POINTS = {
    "quotes_read": "I have read the sentences that readers will quote; each may stand alone.",
    "told_seen": "I know which people the report tells of only widely, or not at all, and who is left out.",
    "true_figures_seen": "I have compared the published figures with the true ones; none misleads.",
    "changes_seen": "I know what changed since the last report and version, and in the log.",
    "warnings_seen": "I have read what is to be looked at first, and accept it.",
    "contact_right": "Publisher, contact, how to contest, and what is said of the system are right.",
}
"""What is confirmed, by the ids that the ledger keeps."""
CONFIRMED = ", ".join(POINTS)
"""The ids of all points, as the ledger keeps them: a report is approved with all of them or not at all."""
