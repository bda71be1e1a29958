"""The private store of a programme: decisions, releases, and the counts of decision regions."""
