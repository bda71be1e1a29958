"""The programme file: one YAML file that describes one report series and everything that changes a number."""

from atr.core.policy import OWN_POPULATION
from atr.mechanisms.optimal.policy import OptimalPolicy as Policy
from atr.programme.attributes import Attribute
from atr.programme.log import MOST_OUTCOMES, Log
from atr.programme.measures import (
    ALPHA,
    AttributeDistance,
    FairnessPolicy,
    IndividualPolicy,
)
from atr.programme.reading import load, located
from atr.programme.released import ReleasedRecords
from atr.programme.series import Programme, json_schema

__all__ = [
    "ALPHA",
    "MOST_OUTCOMES",
    "OWN_POPULATION",
    "Attribute",
    "AttributeDistance",
    "FairnessPolicy",
    "IndividualPolicy",
    "Log",
    "Policy",
    "Programme",
    "ReleasedRecords",
    "json_schema",
    "load",
    "located",
]
