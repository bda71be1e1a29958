"""The programme file: one YAML file that describes one report series and everything that changes a number."""

from atr.core.policy import OWN_POPULATION
from atr.mechanisms.optimal.policy import OptimalPolicy as Policy
from atr.programme.attributes import Attribute
from atr.programme.measures import (
    ALPHA,
    BY_PUBLISHER,
    DEFAULT_KEPT,
    FOUR_FIFTHS,
    AttributeDistance,
    FairnessPolicy,
    IndividualPolicy,
    chosen_by,
)
from atr.programme.reading import load, located
from atr.programme.series import MOST_OUTCOMES, Log, Programme, json_schema

__all__ = [
    "ALPHA",
    "BY_PUBLISHER",
    "DEFAULT_KEPT",
    "FOUR_FIFTHS",
    "MOST_OUTCOMES",
    "OWN_POPULATION",
    "Attribute",
    "AttributeDistance",
    "FairnessPolicy",
    "IndividualPolicy",
    "Log",
    "Policy",
    "Programme",
    "chosen_by",
    "json_schema",
    "load",
    "located",
]
