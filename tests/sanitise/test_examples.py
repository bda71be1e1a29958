"""The examples of the library's docstrings."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import numpy as np
import pytest

import atr.sanitise

MODULES = ["atr.sanitise", *(f"atr.sanitise.{m.name}" for m in pkgutil.iter_modules(atr.sanitise.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_say_what_is_so(name: str) -> None:
    assert doctest.testmod(import_module(name), extraglobs={"np": np}).failed == 0
