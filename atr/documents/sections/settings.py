"""Settings and whose choice they are, the privacy figures, the rows of the log, the files and who answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from atr.core.policy import Policy
from atr.documents.text import origins, promise
from atr.documents.text.language import later
from atr.documents.text.origins import by_publisher, chosen_by, default_kept
from atr.documents.text.words import Words
from atr.mechanisms import MECHANISMS
from atr.programme import OWN_POPULATION, FairnessPolicy, IndividualPolicy, Log
from atr.report import model

TITLE = later("Settings and provenance")

FILES = (
    ("report.pdf", later("this report on paper")),
    ("report.json", later("this report for machines, every number of it")),
    ("announced_rules.csv", later("the rules, a row each")),
    ("fairness.csv", later("every comparison but those of people alike, a row each")),
    ("influence.csv", later("what goes with the outcome, a row a figure")),
)
"""The files beside ``report.html``, with what is in them."""

_MECHANISM = {
    "calibrated": later("calibrated: limits by a public rule"),
    "optimal": later("optimal: altered chances"),
}
_UNATTAINABLE = {
    "withhold": later("withheld"),
    "coarsen": later("coarsened, or else withheld"),
    "flatten": later("flattened"),
}
_BY_RULE = {
    "highest": later("by rule: the highest rate of the favourable outcome"),
    "largest": later("by rule: the largest group"),
}
_KINDS = {
    "nominal": later("alike or not"),
    "ordinal": later("steps of its order"),
    "numeric": later("middles of its bins"),
}
_DISTANCES = {"total_variation": later("total variation"), "relative": later("relative distance")}

Setting = tuple[str, str, str]
"""The name of a setting, what it is, and whose choice that was or which rule made it."""


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template; None where nothing is announced."""
    report = words.report
    if not report.announced_groups:
        return None
    by_rule = words.say("By a rule")
    return {
        "settings": _by_choice(words, chain(_protection(words), _comparisons(words)), by_rule),
        "by_rule": by_rule,
        "privacy": list(_privacy(words)),
        "rows": rows(words),
        "rounding": rounding(words),
        "unknown": _unknown(words),
        "files": FILES,
    }


def _by_choice(words: Words, settings: Iterable[Setting], by_rule: str) -> list[tuple[str, list[Setting]]]:
    """The settings by whose choice they are; ``by_rule`` is the title of those of another origin."""
    titles = {
        by_publisher(words): words.say("The publisher’s choice"),
        default_kept(words): words.say("The software’s defaults, kept"),
    }
    found: dict[str, list[Setting]] = {title: [] for title in (*titles.values(), by_rule)}
    for setting in settings:
        found[titles.get(setting[2], by_rule)].append(setting)
    return list(found.items())


def _protection(words: Words) -> Iterator[Setting]:
    """The policy of privacy and fidelity."""
    say, number, percent = words.say, words.language.number, words.language.percent
    report, policy = words.report, words.report.policy
    publisher = by_publisher(words)
    own = MECHANISMS[policy.mechanism].policy

    def of(name: str, setting: str, key: str) -> Setting:
        return name, setting, chosen_by(words, own, key, getattr(policy, key))

    default = policy.mechanism == next(iter(MECHANISMS))
    yield (
        say("Mechanism"),
        say(_MECHANISM.get(policy.mechanism, policy.mechanism)),
        default_kept(words) if default else publisher,
    )
    yield from _fidelity(words, own)
    yield of(say("Ceiling of the confidence"), percent(policy.max_confidence), "max_confidence")
    for what, ceiling in promise.own_ceilings(words):
        yield say("Its ceiling for {what}", what=what), percent(ceiling), publisher
    for a in report.attributes:
        for name, values in a.sets.items():
            title = say("Protected as one, in {attribute}", attribute=a.title)
            yield title, f"{name}: {', '.join(values)}", publisher
    fewest = words.persons(policy.minimum_group_size)
    yield of(say("Fewest people of a group"), fewest, "minimum_group_size")
    unprotected = of(say("Groups that nothing can protect"), say(_UNATTAINABLE[policy.unattainable]), "unattainable")
    if report.withheld_groups or unprotected[2] == publisher:
        yield unprotected
    digits = of(say("Digits of comparisons and chances"), number(policy.digits), "digits")
    if digits[2] == publisher:
        yield digits
    step = policy.population_rounding
    nearest = say("to the nearest {step}", step=number(step))
    yield of(say("Numbers of people"), nearest if step > 1 else say("not rounded"), "population_rounding")
    if policy.mechanism == "optimal":
        own_people = policy.side_information == OWN_POPULATION
        source = say("the people in this report") if own_people else policy.side_information
        yield say("Numbers of people a reader knows"), source, default_kept(words) if own_people else publisher


def _fidelity(words: Words, own: type[Policy]) -> Iterator[Setting]:
    say, number, policy = words.say, words.language.number, words.report.policy
    symbols = {"delta": "δ = {level}", "alpha": "α = {level}"}
    for kind, level in (policy.fidelity or {}).items():
        promised = say("limits declared for each rule") if level is None else symbols[kind].format(level=number(level))
        kept = own.model_fields["fidelity"].default.model_dump(exclude_none=True) == policy.fidelity
        yield say("Fidelity"), promised, default_kept(words) if kept else by_publisher(words)
    if policy.step is not None:
        apart = say("{points} in 100 apart", points=words.language.points(policy.step))
        yield say("Steps of limits"), apart, chosen_by(words, own, "step", policy.step)
    if policy.least is not None:
        least = say("more than {least}", least=number(policy.least))
        yield say("Rules that a cut leaves on each side"), least, chosen_by(words, own, "least", policy.least)
    if policy.objective is not None:
        rates = {"exact": say("kept"), "free": say("free to move")}[policy.group_rates]
        yield say("Rates of groups"), rates, chosen_by(words, own, "group_rates", policy.group_rates)
        objective = {"privacy": say("privacy"), "fidelity": say("fidelity")}[policy.objective]
        yield say("Objective"), objective, chosen_by(words, own, "objective", policy.objective)


def _comparisons(words: Words) -> Iterator[Setting]:
    """The choices that the fairness figures depend on."""
    report, policy, say = words.report, words.report.policy, words.say
    if report.compared:
        yield from _groups(words)
    if policy.sampling:
        yield from _sampling(words, policy.sampling)
    if policy.individual:
        yield from _individual(words, policy.individual)
    for names in policy.influence_sets:
        yield say("Influence of several together"), words.titles(names), by_publisher(words)


def _groups(words: Words) -> Iterator[Setting]:
    report, policy, say, number = words.report, words.report.policy, words.say, words.language.number
    publisher = by_publisher(words)
    yield say("Compared by"), "; ".join(words.titles(by.attributes) for by in report.compared), publisher
    for by in report.compared:
        if by.reference:
            rule = _BY_RULE.get(by.chosen or "")
            name = say("Reference: {attributes}", attributes=words.titles(by.attributes))
            yield name, by.reference, say(rule) if rule else publisher
    legitimate = "; ".join(a.title for a in report.attributes if a.legitimate)
    yield say("What may count"), legitimate or say("nothing is declared"), publisher
    line = say("{low} to {high}", low=number(policy.four_fifths), high=promise.inverse(words, policy.four_fifths))
    yield say("Line of ratios"), line, origins.of_four_fifths(words)
    parity = say("at most {number}", number=number(policy.parity_tolerance))
    yield say("Line of parity"), parity, origins.of_parity_tolerance(words)


def _sampling(words: Words, info: model.SamplingInfo) -> Iterator[Setting]:
    say = words.say
    whole = say("everything there is to tell of") if info.coverage == "whole" else say("a sample of more such cases")
    yield say("The log is taken for"), whole, chosen_by(words, Log, "coverage", info.coverage)
    if info.alpha is not None:
        level = words.language.percent(round(1 - info.alpha, 9))
        yield say("Level of intervals and tests"), level, chosen_by(words, FairnessPolicy, "alpha", info.alpha)


def _individual(words: Words, policy: model.IndividualPolicy) -> Iterator[Setting]:
    say, number = words.say, words.language.number
    names = words.listed(say(_DISTANCES[measure]) for measure in policy.measures)
    yield (
        say("Like people alike: distance of outcomes"),
        names,
        chosen_by(words, IndividualPolicy, "measures", policy.measures),
    )
    for a in words.report.attributes:
        of = policy.distances[a.name]
        kept = (of.kind, of.weight) == ("nominal", 0 if a.protected else 1)
        setting = say("{kind}, weight {weight}", kind=say(_KINDS[of.kind]), weight=number(of.weight))
        yield (
            say("Distance: {attribute}", attribute=a.title),
            setting,
            default_kept(words) if kept else by_publisher(words),
        )
    beyond = say("at most {number} beyond the distance", number=number(policy.tolerance))
    yield say("Tolerance"), beyond, chosen_by(words, IndividualPolicy, "tolerance", policy.tolerance)


def _privacy(words: Words) -> Iterator[tuple[str, str]]:
    """The privacy figures and yardsticks, each with its name."""
    report, say, percent = words.report, words.say, words.language.percent
    known = report.privacy
    if known.max_confidence is not None:
        yield say("Maximum confidence β"), percent(known.max_confidence)
    if known.prior_confidence is not None:
        limits = report.fidelity.kind == "limits"
        alone = say("From numbers of people and rates alone") if limits else say("Without this report")
        yield alone, percent(known.prior_confidence)
    if known.printed_confidence is not None:
        yield say("By the printed numbers of people"), percent(known.printed_confidence)
    if known.by_rates:
        yield say("From rates of several reports alone"), percent(known.by_rates.max_confidence)
    for own in known.own_ceilings:
        what = promise.under(words, own.attribute, own.set)
        yield say("Maximum confidence: {what}", what=what), percent(own.max_confidence)
        yield say("Without this report: {what}", what=what), percent(own.prior_confidence)
    yield from _yardsticks(words)
    binding = next((g for g in report.groups if g.id == known.binding_group), None)
    if binding:
        yield say("Group in which a reader is surest"), words.group(binding)
    for name, value in (known.binding_set or {}).items():
        yield say("What the reader is surest of there"), f"{words.attributes[name].title}: {value}"


def _yardsticks(words: Words) -> Iterator[tuple[str, str]]:
    say, number, privacy = words.say, words.language.number, words.report.privacy
    if privacy.min_uncertainty is not None:
        yield say("Minimum uncertainty γ = −ln β"), say("{amount} nats", amount=number(privacy.min_uncertainty))
    worst = privacy.leakage
    if worst is None:
        return
    infinite = say("infinite")
    for name, value, unit in (
        (say("Local differential privacy, worst group"), worst.ldp, "nats"),
        (say("Log-lift, worst group"), worst.log_lift, "nats"),
        (say("Likeness gain, worst group"), worst.likeness_gain, ""),
        (say("Min-entropy leakage, worst group"), worst.min_entropy_leakage, "bits"),
    ):
        amount = infinite if value is None else number(value)
        units = {"nats": say("{amount} nats", amount=amount), "bits": say("{amount} bits", amount=amount)}
        yield name, amount if value is None else units.get(unit, amount)


def rows(words: Words) -> list[tuple[str, tuple[str, ...]]]:
    """What became of the rows of the log: a name, the number now, and that of the release before where there is one."""
    quality, say, number = words.report.data_quality, words.say, words.language.number
    columns = (quality, *([quality.before] if quality.before else []))
    names = (
        (say("Read"), "rows_read"),
        (say("Used, one for each decision"), "decisions"),
        (say("Left out because the same row was there already"), "duplicates"),
        (say("Replaced by a later correction"), "corrections"),
        (say("Set aside because they could not be read"), "quarantined"),
    )
    return [(name, tuple(number(getattr(of, key)) for of in columns)) for name, key in names]


def rounding(words: Words) -> list[str]:
    """How numbers of rows are rounded, a sentence each."""
    policy, say, number = words.report.policy, words.say, words.language.number
    step = policy.population_rounding
    used = max(policy.minimum_group_size, step)
    if used == 1:
        return []
    total = say("The number read is what the others as printed add up to.")
    if used == step:
        said = [say("Every number is rounded to the nearest {step}.", step=number(step)), total]
    elif step == 1:
        said = [
            say("The number used is rounded to the nearest {used}, the others are exact.", used=number(used)),
            total,
        ]
    else:
        both = {"used": number(used), "step": number(step)}
        said = [
            say("The number used is rounded to the nearest {used}, the others to the nearest {step}.", **both),
            total,
        ]
    least = say("Where there is a row at all, at least {step} are printed.", step=number(step))
    return [*said, *([least] if step > 1 else [])]


def _unknown(words: Words) -> list[str]:
    """The share of announced people of whom a value is not known, by attribute."""
    percent, say = words.language.percent, words.say
    few = say("less than {share}", share=percent(0.005))
    shares = words.report.data_quality.unknown
    return [f"{words.attributes[name].title}, {percent(share) if share else few}" for name, share in shares.items()]
