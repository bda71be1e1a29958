"""An attribute of the programme file in another language than English."""

from __future__ import annotations

from atr.programme import Attribute


def test_bins_are_named_in_the_language_of_the_programme() -> None:
    content = {"role": "sensitive", "bins": [1000.0, 2500.5], "unit": "Euro"}
    made = Attribute.model_validate(content, context={"language": "de"})
    assert made.categories == ("unter 1.000 Euro", "1.000 bis unter 2.500,5 Euro", "2.500,5 Euro und mehr")
