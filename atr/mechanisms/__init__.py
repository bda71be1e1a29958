"""What is announced in place of the true decision mapping: the mechanisms there are."""

from __future__ import annotations

from typing import Any

from atr.core.policy import Policy
from atr.mechanisms.base import Mechanism
from atr.mechanisms.calibrated.mechanism import CalibratedMechanism
from atr.mechanisms.optimal.mechanism import OptimalMechanism

MECHANISMS: dict[str, Mechanism[Any]] = {
    mechanism.name: mechanism for mechanism in (CalibratedMechanism(), OptimalMechanism())
}
"""By the name that a policy has for it; the first is that of a policy that names none. New ones are added here."""


def mechanism_of(policy: Policy) -> Mechanism[Any]:
    """Give the mechanism that a policy names, from :data:`MECHANISMS`."""
    return MECHANISMS[policy.mechanism]
