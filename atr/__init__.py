"""Algorithmic Transparency Reports: announced decision rules that bound what a reader can infer."""

__version__ = "0.1.0"
