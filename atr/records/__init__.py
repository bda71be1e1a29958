"""Released records: a file with one row per decision, in which one column is altered at random.

Rows have the public attributes that are not hidden, and the sanitised column. What is private (counts by hidden values,
the seed) and what is public (:class:`~atr.records.model.PublicRecords`) never share a type.
"""
