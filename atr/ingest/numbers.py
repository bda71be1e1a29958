"""Numbers as logs write them."""

from __future__ import annotations

import re

from atr.warehouse.connection import quoted

_THOUSANDS = {".": r"\.", ",": ",", " ": r" \x{a0}\x{2009}\x{202f}", "'": r"'\x{2019}"}
"""What stands between thousands: a pattern of the characters that look so."""


def number(cell: str, decimal: str | None, thousands: str | None) -> str:
    """Say what number a text is.

    Parameters
    ----------
    cell
        SQL of the text.
    decimal, thousands
        ``log.decimal`` and ``log.thousands``; without both, a plain number is meant, as in 1234.5 or 1e3.

    Returns
    -------
    SQL of a DOUBLE; NULL if the text is no finite number.
    """
    plain = cell
    if decimal is not None or thousands is not None:
        sign = re.escape(decimal or ".")
        whole = "[0-9]+"
        if thousands is not None:
            between = _THOUSANDS[thousands]
            whole = f"([0-9]+|[1-9][0-9]{{0,2}}([{between}][0-9]{{3}})+)"
            plain = f"regexp_replace({plain}, '[{quoted(between)}]', '', 'g')"
        pattern = f"[+-]?{whole}({sign}[0-9]+)?([eE][+-]?[0-9]+)?"
        plain = f"replace({plain}, '{decimal or '.'}', '.')"
        plain = f"CASE WHEN regexp_full_match({cell}, '{quoted(pattern)}') THEN {plain} END"
    return f"""CASE WHEN isfinite(TRY_CAST({plain} AS DOUBLE)) AND NOT contains({plain}, '_')
        THEN TRY_CAST({plain} AS DOUBLE) END"""
