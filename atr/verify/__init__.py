"""What an outsider can check: every statement of a report recomputed from its own printed numbers.

Printed populations are rounded, so a statement is accepted if some exact populations within the rounding make it true,
and refused otherwise. With exact populations (printed, or supplied) it must be reproduced to its last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atr.verify.finding import Finding

__all__ = ["verify"]


def verify(
    path: str | Path,
    *,
    population: str | Path | None = None,
    previous: str | Path | Sequence[str | Path] = (),
) -> list[Finding]:
    """Recompute a published report from its own numbers, or check released records against what is said of them.

    Parameters
    ----------
    path
        A ``report.json``, or its folder; or the folder of released records, or its ``channel.json``.
    population
        A CSV of exact populations: a column for each attribute and a column ``population``, one row per region. For
        records also the released column as it was before.
    previous
        The ``report.json`` of each earlier report that it names (``changes``, ``series``), or its folder, one or
        several; what the report says of those that are not given is taken as it stands.

    Returns
    -------
    What was found false, each a part of the report (``where``) and a ``problem``; empty if every statement holds.

    Raises
    ------
    VerifyError
        If the file cannot be read as a report, or the populations or the earlier report do not fit it.
    """
    from atr.verify.files import verify_files
    from atr.verify.records import has_records, verify_records

    if has_records(path):
        return verify_records(path, population=population)[1]
    earlier = (previous,) if isinstance(previous, str | Path) else previous
    return verify_files(path, population=population, previous=earlier)[1]
