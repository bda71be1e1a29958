"""The promise of fidelity, described for every place that tells of it; :mod:`atr.documents.text.wording` states it."""

from __future__ import annotations

from atr.documents.text.wording import PROMISE_SYMBOLS, inverse, number, plural, points
from atr.report.model import PublicReport

_DEFINITIONS = {
    "delta": "The promise is called δ-fidelity, with δ = {}: the announced and the true chance differ by at most "
    "1 − δ.",
    "alpha": "The promise is called α-fidelity, with α = {}: the ratio of the announced and the true chance lies "
    "between α and 1/α.",
    "ranges": "The publisher declared these limits for every decision region; the true and the announced chance both "
    "lie within them, up to rounding. They are in announced_rules.csv.",
}


def described(report: PublicReport) -> dict[str, str]:
    """Describe the promise of fidelity.

    Returns
    -------
    ``figure``: the promise, such as "± 5 points"; ``demanded``: the fidelity that the policy demands; ``definition``:
    its name and meaning, empty where every group is flattened and nothing is promised.
    """
    promised, nothing = report.fidelity, report.flattened_groups == report.announced_groups
    level = 0.0 if promised.level is None else promised.level
    if nothing:
        figure = "none"
    elif promised.level == 1 or promised.largest_change == 0:
        figure = "exact"
    elif promised.kind == "alpha":
        figure = f"× {number(level)} to {inverse(level)}"
    elif promised.largest_change is None:
        figure = "within limits"
    else:
        figure = f"± {plural(points(promised.largest_change), 'point')}"
    demanded = (
        "limits declared for each rule" if least is None else f"{PROMISE_SYMBOLS.get(kind, kind)} = {number(least)}"
        for kind, least in (report.policy.fidelity or {}).items()
    )
    definition = "" if nothing else _DEFINITIONS[promised.kind].format(number(level))
    return {"figure": figure, "demanded": ", ".join(demanded), "definition": definition}
