"""Fairness, influence and sampling, computed on what is announced."""
