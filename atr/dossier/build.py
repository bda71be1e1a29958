"""The review dossier: what perturbation changed, for the person who decides on publication. Private.

A document of its own, with its own type, folder and permissions: it shows the true decision mapping.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from atr.core.announcement import Announcement
from atr.core.regions import Regions
from atr.documents import templates
from atr.documents.charts.palette import dark_css
from atr.documents.fonts import with_fonts
from atr.documents.text.language import Language
from atr.documents.text.words import Words
from atr.documents.text.yardsticks import YARDSTICKS
from atr.dossier import summary
from atr.dossier.checks import Check, TrueMeasure, checks, true_measures
from atr.dossier.curves import SYMBOLS, Curves, charts, curves
from atr.dossier.everybody import Everybody
from atr.dossier.finer_groups import Counted, FinerGroups, finer_groups
from atr.dossier.groups import DossierGroup, groups
from atr.dossier.other_beliefs import OtherBelief
from atr.dossier.other_choices import MOST_GROUPS, OtherChoice
from atr.dossier.related import Related
from atr.dossier.sign_off import POINTS
from atr.errors import RefusedError
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.programme.font_files import FontFile
from atr.report import model
from atr.warehouse.kept_releases import Wait
from atr.warehouse.ledger import Release

ENGLISH = Language.of("en")


@dataclass(frozen=True)
class Results:
    """What a run found.

    Parameters
    ----------
    programme
        The series.
    period, version
        Label of the period, and version of its report.
    regions
        The true decision regions, with the status of every group.
    solved
        What the mechanism found of the groups that are to be announced.
    announcement, report
        What is announced; None where the run was refused.
    accounting, unknown
        What became of the log's rows, and how many decisions of the period lack each attribute.
    remarks
        What deserves a look in the log, as sentences without a full stop.
    beliefs
        What readers conclude whom the promise does not cover.
    choices
        What other choices of step and ceiling would tell.
    counted
        The outcomes of every region of the log, before groups joined.
    log_changes
        The release published last, and how many decisions of the log are new, changed and gone since its draft.
    waits
        The groups that have changed and are counted as the version before did.
    """

    programme: Programme
    period: str
    version: int
    regions: Regions
    solved: pd.DataFrame
    announcement: Announcement | None
    report: model.PublicReport | None
    accounting: Mapping[str, Any]
    unknown: Mapping[str, int]
    remarks: Sequence[str] = ()
    beliefs: tuple[OtherBelief, ...] = ()
    choices: tuple[OtherChoice, ...] = ()
    counted: Counted = ()
    log_changes: tuple[Release, tuple[int, int, int]] | None = None
    waits: tuple[Wait, ...] = ()


@dataclass(frozen=True, slots=True)
class Dossier:
    """All a reviewer sees.

    ``factors`` are what confidences are divided by: for an attribute or a named set, the share of the policy's ceiling
    it may have.
    """

    release: str
    title: str
    period: str
    refusal: str
    refusal_detail: str
    policy: dict[str, Any]
    report_date: str
    stated_confidence: float | None
    promised: str
    language: str
    publisher: str
    appeal: str
    quotes: tuple[tuple[str, str], ...]
    closeness: tuple[summary.Closeness, ...]
    widest: tuple[summary.Wide, ...]
    left_out: tuple[summary.LeftOut, ...]
    true_rates: tuple[summary.TrueRate, ...]
    true_alike: tuple[summary.TrueAlike, ...]
    undecided: dict[str, int]
    levers: tuple[str, ...]
    sign_off: dict[str, str]
    groups: tuple[DossierGroup, ...]
    curves: Curves | None
    measures: tuple[TrueMeasure, ...]
    beliefs: tuple[OtherBelief, ...]
    choices: tuple[OtherChoice, ...]
    finer: tuple[FinerGroups, ...]
    checks: tuple[Check, ...]
    rows: dict[str, int]
    reasons: dict[str, int]
    remarks: tuple[str, ...]
    differences: tuple[summary.Difference, ...]
    log_changes: str
    warnings: tuple[str, ...]
    waits: tuple[str, ...]
    factors: dict[str, float]


def build(
    results: Results,
    *,
    previous: model.PublicReport | None = None,
    version_before: model.PublicReport | None = None,
    related: Related | None = None,
    refusal: RefusedError | None = None,
) -> Dossier:
    """Put the dossier of a run together.

    Parameters
    ----------
    results
        What the run found.
    previous
        The public report of the period before, if there is one.
    version_before
        That of this period that was published before, if there is one.
    related
        The other reports that tell of the same people.
    refusal
        Why the run was refused, if it was.

    Returns
    -------
    All that the reviewer sees.
    """
    programme, regions, report, announcement = results.programme, results.regions, results.report, results.announcement
    policy, rows = programme.policy, {k: v for k, v in results.accounting.items() if isinstance(v, int)}
    promise, mechanism = None if announcement is None else announcement.fidelity, mechanism_of(policy)
    settings = policy.model_dump(exclude={"side_information"}).items()
    beta = mechanism.columns(results.solved, promise, policy)["beta"].to_numpy()
    measures, checked, finer = [], [], list[FinerGroups]()
    step, words = mechanism.terms(policy).step, Words.of(report) if report else None
    every, people = tuple(groups(regions, beta, announcement)), Everybody.of(regions, results.counted, announcement)
    if announcement is not None and report is not None:
        shown = regions.take(announcement.groups).collapsed(~announcement.ruled)
        measures = true_measures(programme, shown, announcement, report)
        checked = list(checks(programme, shown, announcement, report, measures, rows))
        finer = list(finer_groups(regions, announcement, results.counted, policy))
    return Dossier(
        release=f"{results.period}-v{results.version}",
        title=programme.title,
        period=results.period,
        refusal=refusal.message if refusal else "",
        refusal_detail=refusal.private if refusal else "",
        policy={key: value for key, value in settings if not isinstance(value, dict)}
        | ({} if policy.mechanism == "calibrated" else {"side_information": policy.assumed})
        | {kind: level for kind, level in (mechanism.terms(policy).fidelity or {}).items() if level is not None}
        | {file.keys[-1]: file.path for file in policy.files if file.keys != ("side_information",)},
        report_date=report.date if report else "",
        stated_confidence=report.privacy.max_confidence if report else None,
        promised=summary.promised(report) if report else "",
        language=programme.language,
        publisher=f"{programme.publisher.name}, {programme.publisher.contact}",
        appeal=programme.system.appeal,
        quotes=summary.quotes(words) if words else (),
        closeness=summary.closeness(every, step) if report else (),
        widest=summary.widest(every, step) if report else (),
        left_out=summary.left_out(people, programme) if report else (),
        true_rates=summary.true_rates(people, words) if words else (),
        true_alike=summary.true_alike(people, words) if words else (),
        undecided=summary.undecided(report, measures) if report else {},
        levers=summary.levers(results.choices),
        sign_off=POINTS["report"] if report else {},
        groups=every,
        curves=curves(regions, beta, promise, policy),
        measures=tuple(measures),
        beliefs=results.beliefs,
        choices=results.choices,
        finer=tuple(finer),
        checks=tuple(checked),
        rows=rows | {f"decisions of the period without {name}": n for name, n in results.unknown.items() if n},
        reasons=dict(results.accounting["reasons"]),
        remarks=tuple(results.remarks),
        differences=summary.differences(previous, version_before, report) if report else (),
        log_changes=_changed(results.log_changes),
        warnings=tuple(_warnings(related, report)) if report else (),
        waits=tuple(group.said() for group in results.waits) if report else (),
        factors={
            f"{own.attribute}, {own.set}" if own.set else own.attribute: own.factor
            for own in regions.protection.own_ceilings
        },
    )


def render(dossier: Dossier, folder: Path, *, fonts: Sequence[FontFile] = ()) -> None:
    """Write ``dossier.html`` and ``dossier.json``; the same dossier gives the same bytes.

    Parameters
    ----------
    dossier
        From :func:`build`.
    folder
        Where both are written, over what is there.
    fonts
        Fonts for the characters that no bundled font has.
    """
    known: dict[str, Any] = {
        "dossier": dossier,
        "charts": charts(dossier.curves),
        "symbols": SYMBOLS,
        "MOST_GROUPS": MOST_GROUPS,
        "dark": Markup(dark_css()),  # noqa: S704 - colours of the palette
        "terms": YARDSTICKS,
    }
    html = with_fonts(templates.render("dossier/dossier.html.jinja", **known), supplied=fonts)
    (folder / "dossier.html").write_text(html, encoding="utf-8")
    content = {name: part for name, part in asdict(dossier).items() if name != "factors" or part}
    (folder / "dossier.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _changed(log_changes: tuple[Release, tuple[int, int, int]] | None) -> str:
    """Say how the log changed since the release published last was drafted; empty where that is not known."""
    if log_changes is None:
        return ""
    release, numbers = log_changes
    counts = [ENGLISH.say_n("{n} decision is", "{n} decisions are", n) for n in numbers]
    said = [f"{count} {what}" for count, what in zip(counts, ("new", "changed", "gone"), strict=True)]
    return f"Since version {release.version} of {release.period} was drafted, {ENGLISH.listed(said)}, in the whole log."


def _warnings(related: Related | None, report: model.PublicReport) -> Iterator[str]:
    if report.privacy.by_rates:
        of = report.privacy.by_rates
        yield (
            f"In {ENGLISH.say_n('{n} group', '{n} groups', of.groups)} numbers of people and rates of several reports "
            f"alone make a reader who takes rules for unchanged up to {ENGLISH.percent(of.max_confidence)} sure; only "
            "the rate is told there."
        )
    if related is None:
        return
    if related.overlapping:
        yield (
            f"There are reports of the people of {report.period.label} that share only some of these days, or divide "
            f"them otherwise: {ENGLISH.listed(related.overlapping)}. Whoever has both can subtract one from the other. "
            "Publish one or the other."
        )
    if related.together:
        yield (
            "Whoever knows the printed numbers of people as they are can work out from both, among the narrowest: "
            f"{'; '.join(related.together)}."
        )
    if related.published:
        versions = ENGLISH.listed([str(version) for version in related.published])
        yield (
            f"Version {versions} of this period is published. Whoever compares it with this one sees what changed. "
            "Groups in which only a few decisions did, or of which the change would tell too much, count as they did."
        )
