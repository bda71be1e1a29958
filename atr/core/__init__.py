"""Populations, mappings, protected sets, fidelity, confidence and leakage: no files, no database."""
