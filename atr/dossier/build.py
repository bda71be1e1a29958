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

from atr.core.announcement import Announcement
from atr.core.regions import Regions
from atr.documents import templates
from atr.documents.fonts import with_fonts
from atr.documents.text import phrases, wording
from atr.documents.text.yardsticks import YARDSTICKS
from atr.dossier.checks import Check, TrueMeasure, checks, true_measures
from atr.dossier.curves import Curves, charts, curves
from atr.dossier.finer_groups import Counted, FinerGroups, finer_groups
from atr.dossier.groups import DossierGroup, groups
from atr.dossier.other_beliefs import OtherBelief
from atr.dossier.other_choices import OtherChoice
from atr.dossier.related import Related
from atr.errors import RefusedError
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.report import model
from atr.warehouse.kept_releases import Wait
from atr.warehouse.ledger import Release


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
class Difference:
    """An announced figure now and in the report before."""

    name: str
    before: str
    now: str


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
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    waits: tuple[str, ...]
    factors: dict[str, float]


def build(
    results: Results,
    *,
    previous: model.PublicReport | None = None,
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
        promised=_promised(report) if report else "",
        groups=tuple(groups(regions, beta, announcement)),
        curves=curves(regions, beta, promise, policy),
        measures=tuple(measures),
        beliefs=results.beliefs,
        choices=results.choices,
        finer=tuple(finer),
        checks=tuple(checked),
        rows=rows
        | {f"decisions of the period without {name}": n for name, n in results.unknown.items() if n}
        | _changed(results.log_changes),
        reasons=dict(results.accounting["reasons"]),
        remarks=tuple(results.remarks),
        differences=tuple(_differences(previous, report)) if previous and report else (),
        warnings=tuple(_warnings(related, report)) if report else (),
        waits=tuple(group.said() for group in results.waits) if report else (),
        factors={
            f"{own.attribute}, {own.set}" if own.set else own.attribute: own.factor
            for own in regions.protection.own_ceilings
        },
    )


def render(dossier: Dossier, folder: Path) -> None:
    """Write ``dossier.html`` and ``dossier.json``; the same dossier gives the same bytes.

    Parameters
    ----------
    dossier
        From :func:`build`.
    folder
        Where both are written, over what is there.
    """
    known = {"dossier": dossier, "charts": charts(dossier.curves), "terms": YARDSTICKS}
    html = with_fonts(templates.render("dossier/dossier.html.jinja", **known))
    (folder / "dossier.html").write_text(html, encoding="utf-8")
    content = {name: part for name, part in asdict(dossier).items() if name != "factors" or part}
    (folder / "dossier.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _changed(log_changes: tuple[Release, tuple[int, int, int]] | None) -> dict[str, int]:
    if log_changes is None:
        return {}
    release, numbers = log_changes
    since = f"version {release.version} of {release.period} was drafted"
    return {
        f"decisions {what}, in all readings since {since}": n
        for what, n in zip(("new", "changed", "gone"), numbers, strict=True)
    }


def _warnings(related: Related | None, report: model.PublicReport) -> Iterator[str]:
    if report.privacy.by_rates:
        yield phrases.by_rates(report)
    if related is None:
        return
    if related.overlapping:
        yield (
            f"There are reports of the people of {report.period.label} that share only some of these days, or divide "
            f"them otherwise: {wording.listed(related.overlapping)}. Whoever has both can subtract one from the other. "
            "Publish one or the other."
        )
    if related.together:
        yield (
            "Whoever knows the printed numbers of people as they are can work out from both, among the narrowest: "
            f"{'; '.join(related.together)}."
        )
    if related.published:
        versions = wording.listed([str(version) for version in related.published])
        yield (
            f"Version {versions} of this period is published. Whoever compares it with this one sees what changed. "
            "Groups in which only a few decisions did, or of which the change would tell too much, count as they did."
        )


def _promised(report: model.PublicReport) -> str:
    kind, level, step = report.fidelity.kind, report.fidelity.level, report.fidelity.step
    if step is not None:
        return f"limits in steps of {step:g}"
    return "the declared ranges" if level is None else f"{kind} {level:g}"


def _differences(previous: model.PublicReport, report: model.PublicReport) -> list[Difference]:
    """Give the main figures of two reports, the earlier one as it called its outcomes."""
    before, now = (_figures(of, positive=report.positive) for of in (previous, report))
    return [Difference(name, before[name], now[name]) for name in now]


def _figures(report: model.PublicReport, *, positive: str) -> dict[str, str]:
    verdicts = {"lines met": "met", "lines not met": "not_met", "lines that cannot be told": "cannot_tell"}
    return {
        "decisions": f"{report.coverage.decisions:,}",
        "share of people announced": f"{report.coverage.announced_share:.0%}",
        "groups announced": str(report.coverage.groups.announced),
        "stated confidence": str(report.privacy.max_confidence),
        "promise": _promised(report),
        f"share of “{positive}”": str((report.coverage.rate or {}).get(positive)),
    } | {name: str(sum(e.verdict == verdict for e in report.fairness)) for name, verdict in verdicts.items()}
