"""How private the announced rules are: the guarantee, and what they give away in the units of other definitions.

Everything is of the printed chances, and but for rounding of the printed numbers of people: whoever has the report can
compute it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from atr.core.announcement import Announcement
from atr.core.groups import Groups
from atr.core.leakage import leakage_of_values
from atr.core.protected import Label
from atr.report import model
from atr.report.rounding import down, up


def privacy(announcement: Announcement, leakage: model.Leakage | None) -> model.Privacy:
    """The privacy guarantee as it is printed.

    Parameters
    ----------
    announcement
        The announced mapping.
    leakage
        The worst group by each yardstick, from :func:`leakages`.

    Returns
    -------
    Confidences as probabilities, rounded up; the minimum uncertainty −ln β in nats, rounded down.

    References
    ----------
    [CGP] Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 3 and 4, Appendix C.
    """
    digits, ruled, confidences = announcement.digits, announcement.ruled, announcement.confidences()
    at_face, prior = map(announcement.stated, (confidences, announcement.uninformative().confidences()))
    face_value = {} if at_face is None else {"face_value": at_face}
    tested, covered = (announcement.readers, announcement.covered) if ruled.any() else ({}, {})
    others = {name: up(float(sure[ruled].max()), digits) for name, sure in tested.items()}
    held = face_value | {name: others[name] for name in covered}
    largest = max(held.values(), default=None)
    each = np.max([np.array(confidences, dtype=np.float64), *covered.values()], axis=0)
    binding = int(np.where(ruled, each, -1).argmax()) if held else None
    rules, known = announcement.rules[ruled], announcement.known is not None
    by_rates = [sure for sure in announcement.by_rates.tolist() if sure]
    return model.Privacy(
        max_confidence=largest,
        prior_confidence=up(float(announcement.prior[ruled].max()), digits) if covered else prior,
        min_uncertainty=None if largest is None else down(-math.log(largest), digits),
        binding_group=None if binding is None else group_id(binding),
        binding_set=None if binding is None else binding_set(announcement, binding),
        readers=face_value | others,
        rules_left=None if np.isnan(rules).all() else round(float(rules.min())),
        by_rates=model.ByRates(groups=len(by_rates), max_confidence=up(max(by_rates), digits)) if by_rates else None,
        leakage=leakage,
        own_ceilings=() if at_face is None else tuple(_own_ceilings(announcement)),
        printed_confidence=announcement.stated(announcement.confidences(printed=True)) if known else None,
    )


def _own_ceilings(announcement: Announcement) -> Iterator[model.OwnCeiling]:
    """None where limits are told: there no reader exceeds any ceiling."""
    for own in announcement.protection.own_ceilings if announcement.fidelity.kind != "limits" else ():
        sure, prior = (of.stated(of.confidences(own)) for of in (announcement, announcement.uninformative()))
        yield model.OwnCeiling(
            attribute=own.attribute,
            set=own.set,
            ceiling=own.max_confidence,
            max_confidence=sure or 0.0,
            prior_confidence=prior or 0.0,
        )


def binding_set(announcement: Announcement, group: int) -> dict[str, str]:
    """The protected set of an announced group that a reader can be surest of.

    Parameters
    ----------
    announcement
        The announced mapping, with the people that readers assume: the printed numbers or the side information.
    group
        The group's position.

    Returns
    -------
    The attribute, and its value or the name of the set; the first of several that are equally sure.
    """
    members = slice(int(announcement.offsets[group]), int(announcement.offsets[group + 1]))
    people = announcement.assumed[members, None].astype(object) * announcement.chance[members].astype(object)
    totals = people.sum(axis=0).tolist()
    labelled = announcement.protection.labelled(announcement.region_values[members])

    def sure(label: Label) -> Fraction:
        got = people[labelled[label]].sum(axis=0).tolist()
        return max(Fraction(x, total) for x, total in zip(got, totals, strict=True) if total)

    surest = max(labelled, key=sure)
    return {surest.attribute: surest.name}


def group_id(position: int) -> str:
    """The name of a group in the report, from its position.

    >>> group_id(0)
    'g1'
    """
    return f"g{position + 1}"


def leakages(announcement: Announcement) -> tuple[model.Leakage | None, list[model.GroupLeakage | None]]:
    """What the printed rules give away in the units of other definitions.

    Returns
    -------
    The worst group by each yardstick, rounded up, and (g,) the yardsticks of each group, with its minimum uncertainty
    rounded down; None where no chances are printed.

    References
    ----------
    :mod:`atr.documents.text.yardsticks` has the formulas, units and sources; :mod:`atr.core.leakage` computes them.
    """
    each: list[model.GroupLeakage | None] = [None] * len(announcement.groups)
    faced, members, digits = announcement.at_face_value.tolist(), announcement.face_regions, announcement.digits
    if not faced:
        return None, each
    values, offsets = announcement.face_values
    sets = None if announcement.sets is None else announcement.sets.plain()
    told = Groups(announcement.assumed[members], announcement.mapping[members], np.array(offsets), sets)
    found = leakage_of_values(told, values)
    for place, group in enumerate(faced):
        of = {name: float(of_groups[place]) for name, of_groups in found.items()}
        uncertainty = down(of["minimum_uncertainty"], digits)
        each[group] = model.GroupLeakage(min_uncertainty=uncertainty, **_printed(of, digits))
    worst = {name: float(of_groups.max()) for name, of_groups in found.items()}
    return model.Leakage(**_printed(worst, digits)), each


def _printed(found: dict[str, float], digits: int) -> dict[str, float | None]:
    names = {"ldp": "local_differential_privacy"} | {n: n for n in ("log_lift", "likeness_gain", "min_entropy_leakage")}
    return {name: up(found[of], digits) if math.isfinite(found[of]) else None for name, of in names.items()}
