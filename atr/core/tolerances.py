"""Every tolerance of the calculations, by name.

Compiled kernels keep the few they need in their own file: Numba's cache of a function does not notice when another file
changes.
"""

from __future__ import annotations

GRID_TOLERANCE = 1e-9
"""Part of a grid step by which a chance may differ from its grid value: 0.1 * 1000 is not 101."""

PROBABILITY_TOLERANCE = 1e-9
"""Absolute: the chances of a region add up to 1, and a chance lies within its range, but for this."""

SAME_CONFIDENCE = 1e-12
"""Relative, and absolute near 1: two ways to compute the same confidence in closed form differ by less."""

SAME_VALUE = 1e-9
"""Relative: two ways to compute the same sum or the same limit differ by less."""

SAME_FIGURE = 1e-12
"""Absolute: a figure of fairness may miss its line by so much and still keep it."""

ZERO_CHANCE = 1e-12
"""A chance or a rate that is no larger was meant to be 0."""

SAME_EXCESS = 1e-9
"""Absolute: two excesses of individual fairness that differ by less are the same one, computed in two ways."""

SAME_LEVEL = 1e-9
"""Absolute: two levels of fidelity that differ by no more are one."""

SAME_PEOPLE = 1e-6
"""Absolute: a sum of chances over people may miss a number of people by so much."""

RECOMPUTED = 1e-9
"""Absolute, of numbers above 1 relative: a figure recomputed from printed numbers may differ by so much."""

INTERVAL_TOLERANCE = 1e-10
"""Absolute: the logarithm of an end of the interval of a ratio is found so exactly."""

ROOT_TOLERANCE = 1e-13
"""Absolute: the end of a rate over open populations is found so exactly."""

AT_THE_LIMIT = 1e-7
"""Relative: a protected set whose confidence is this near its ceiling after a linear programme is at it."""

MISSED_STEPS = 1e-6
"""Grid steps, or people, that a number may lie beyond a whole one by rounding errors of what it was computed from."""

NOISE_DIGITS = 6
"""Decimals of a grid step: two ways to compute the same announcement by linear programmes differ by less."""

CLOSED_FORM_DIGITS = 12
"""Significant digits of an announcement in closed form: noise beyond them must not decide which way a half goes."""

FRACTION_DIGITS = 9
"""Decimals of a grid step: parts of a step that differ by less are the same."""

SOLVER_MARGIN = 1e-5
"""Grid steps: a margin that outweighs the tolerance of a solver of integer programmes."""

ROUNDING_NOISE = 1e-9
"""Of one unit of the last printed digit, or of a printed figure: floating-point noise must not decide a rounding."""

SAME_OPTIMUM = 1e-11
"""Absolute: two confidences found by linear programmes that differ by less are the same."""

JUST_ATTAINABLE = 1e-8
"""Absolute: a confidence that is just attainable may be missed by so much before a group counts as out of reach."""

NOBODY = 1e-10
"""Relative to the people of a group: a total this small is an outcome nobody gets."""

FIXED_MOVE = 1e-13
"""Relative to the people of a group: a move whose range is this narrow is fixed."""

SINGULAR = 1e-10
"""Relative to the largest: a singular value this small is 0."""

SOLVER_TOLERANCE = 1e-10
"""Of feasibility, the smallest that HiGHS takes."""

MULTIPLIER_TOLERANCE = 1e-7
"""A multiplier below this is none, where costs are near 1."""

SAME_COUNTS = 1e-10
"""Relative: counts that a reader expects and that miss their total by more are computed with more care."""

AT_THE_CEILING = 1e-9
"""Absolute: a confidence of a reader of limits that is above its ceiling by so much is at it."""

SAME_PLACE = 1e-9
"""Relative to a step of an axis: a value this near to a tick is on it."""
