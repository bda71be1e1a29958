"""Texts for synthetic reports that try to be more than text."""

from __future__ import annotations

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
