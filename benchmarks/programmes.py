"""What the closed form is compared with: bisection over linear programmes, sparse, solved by HiGHS."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, diags_array, hstack, vstack

from atr.core.arrays import FloatArray


def optimal_privacy_by_bisection(population: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """Give β* of one group with free rates to 1e-7: 24 programmes, for β from 0 to 1.

    Chen, Golubchik, Pal (OPT): β is feasible when some x in its range has p·x ≤ βs and p(1-x) ≤ β(S-s). The total
    s = Σpx is a variable of its own, which keeps the programme sparse: 3 entries a region and outcome, not m.
    """
    share = population / population.sum()
    m = len(share)
    by_region, total = diags_array(share), np.ones((m, 1))
    own_total = csr_array(np.append(share, -1)[None])
    bounds = [*zip(lower, upper, strict=True), (0, 1)]
    least, most = 0.0, 1.0
    while most - least > 1e-7:
        beta = (least + most) / 2
        held = vstack([hstack([by_region, -beta * csr_array(total)]), hstack([-by_region, beta * csr_array(total)])])
        result = linprog(
            np.zeros(m + 1),
            A_ub=held.tocsr(),
            b_ub=np.concatenate([np.zeros(m), beta - share]),
            A_eq=own_total,
            b_eq=[0],
            bounds=bounds,
            method="highs",
        )
        least, most = (least, beta) if result.status == 0 else (beta, most)
    return most
