"""What a mapping gives away in the units of other definitions, as documents explain it."""

from __future__ import annotations

from atr.documents.text.language import later

YARDSTICKS = (
    (
        later("Minimum uncertainty, γ"),
        later(
            "−ln β, in nats: the maximum confidence on another scale. The larger it is, the less a reader can infer. "
            "Of local differential privacy, log-lift, likeness gain and min-entropy leakage the opposite is true: the "
            "larger, the more. Chen, Golubchik, Pal [CGP], Appendix C."
        ),
    ),
    (
        later("Local differential privacy"),
        later(
            "max ln (P(a|s) / P(a|t)), in nats, over outcomes a and sensitive values s, t of a group: how far the "
            "chances of an outcome lie apart. Infinite where an outcome is possible for some and impossible for "
            "others. Kasiviswanathan et al., SIAM J. Comput. 40 (2011)."
        ),
    ),
    (
        later("Log-lift"),
        later(
            "max |ln (P(s|a) / P(s))|, in nats: how far an outcome moves what a reader knows of a sensitive value, up "
            "or down. Infinite where an outcome rules a value out. Hsu, Asoodeh, Calmon, ISIT 2019."
        ),
    ),
    (
        later("Likeness gain"),
        later(
            "max (P(s|a) − P(s)) / P(s): how much likelier an outcome makes a sensitive value, relative to what was "
            "known before; twice as likely is a gain of 1. It is what β-likeness bounds, and another β than the "
            "confidence. Cao, Karras, PVLDB 5 (2012)."
        ),
    ),
    (
        later("Min-entropy leakage"),
        later(
            "log2 of Σ max P(s, a) / max P(s), in bits, each maximum over sensitive values, the sum over outcomes: how "
            "much likelier the outcome makes one guess at the value right, on average. Smith, FoSSaCS 2009."
        ),
    ),
)
"""What a mapping gives away in the units of other definitions: name, formula, source; see :mod:`atr.core.leakage`."""
