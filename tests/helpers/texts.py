"""Texts for synthetic reports: ordinary notes, and texts that try to be more than text."""

from __future__ import annotations

from atr.report.model import Note

HOSTILE = (
    "<script>document.title = 'run'</script>",
    "<img src=http://example.invalid/x onerror=\"document.title='run'\">",
    "{{ 7 * 7 }} {% raw %}",
    "]]> --> </svg></style></title>",
    "&lt;b&gt; & \"quotes\" 'single'",
    "left \u202etfel\u202c and \x00 NUL",
    "unbroken" * 30,
    "ελληνικά, Кириллица, Ağır Şiş",
)
"""Texts that try to be more than text."""

NOTES = tuple(
    Note(id=id, title=title, text=text)
    for id, title, text in (
        (
            "alteration", "What was altered",
            "Each announced chance differs from the true one by at most 10 percentage points. Where nothing needed "
            "hiding, nothing was altered.",
        ),
        (
            "guarantee", "For whom the guarantee holds",
            "For a reader who knows a person’s public attributes and outcome, knows how common each sensitive value is "
            "in each group, and takes the announced rules at face value. It does not bound a reader who reconstructs "
            "the alteration, who believes that rules are all-or-nothing, or who knows another sensitive attribute.",
        ),
        ("missing", "What is missing", "Groups that are too small are in no figure; nothing is found by subtraction."),
        ("general", "What this report is not", "It is a general notice and no explanation of one person’s decision."),
    )
)  # fmt: skip
