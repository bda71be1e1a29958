"""Geometry of the charts; the drawing itself is a template."""
