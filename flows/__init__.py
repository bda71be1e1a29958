"""Prefect flows: thin. A task is one call into atr, plus retries, logging and artifacts."""
