"""Where the lines of verdicts and other settings come from, in words."""

from __future__ import annotations

from pydantic import BaseModel

from atr.programme import FairnessPolicy
from atr.report.model import PolicyInfo

BY_PUBLISHER = "chosen by the publisher"
DEFAULT_KEPT = "the software’s default, which the publisher kept"
FOUR_FIFTHS = "29 CFR 1607.4(D), the four-fifths rule of the US Uniform Guidelines on Employee Selection Procedures"


def of_four_fifths(policy: PolicyInfo) -> str:
    """Where the line of the p%-rule comes from: by the programme's own words, or else by its value."""
    return policy.four_fifths_origin or (FOUR_FIFTHS if policy.four_fifths == 0.8 else BY_PUBLISHER)


def of_parity_tolerance(policy: PolicyInfo) -> str:
    """Where the line of parity comes from: by the programme's own words, or else by its value."""
    return policy.parity_tolerance_origin or chosen_by(FairnessPolicy, "parity_tolerance", policy.parity_tolerance)


def chosen_by(part: type[BaseModel], key: str, value: object) -> str:
    """Tell who chose a setting: the publisher, or the software whose default it is.

    Parameters
    ----------
    part
        The part of the programme that has the setting.
    key, value
        Its name and its value.

    Returns
    -------
    ``BY_PUBLISHER`` or ``DEFAULT_KEPT``, as reports say it.
    """
    return DEFAULT_KEPT if value == part.model_fields[key].default else BY_PUBLISHER
