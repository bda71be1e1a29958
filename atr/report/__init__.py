"""The public report: its model, how it is built, and its sentences. :mod:`atr.documents` renders it."""
