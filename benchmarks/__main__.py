"""Measure everything and write results.json and results.md: ``python -m benchmarks [large growth …]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks import (
    calibrated,
    cases,
    fairlearn_compared,
    fairness,
    individual,
    influence,
    logs,
    records,
    rendering,
    several,
)
from benchmarks.measure import machine

HERE = Path(__file__).parent
SECTIONS = {
    "large": cases.large,
    "growth": cases.growth,
    "against_programmes": cases.against_programmes,
    "memory": cases.memory,
    "start_up": cases.start_up,
    "rounded": cases.rounded,
    "several": several.several,
    "logs": logs.logs,
    "calibrated": calibrated.calibrated,
    "fairness": fairness.fairness,
    "fairlearn": fairlearn_compared.fairness,
    "individual": individual.individual,
    "influence": influence.influence,
    "rendering": rendering.rendering,
    "records": records.records,
}


def told(ratio: float | None) -> str:
    """Write a ratio with as many digits as mean anything."""
    if ratio is None:
        return ""
    if 0 < ratio < 0.001:
        return f"1/{1 / ratio:,.0f}"
    return f"{ratio:.3g}" if ratio < 100 else f"{ratio:,.0f}"


def main() -> None:
    """Run the sections named on the command line, or all, and keep earlier results of the others."""
    path = HERE / "results.json"
    described, wanted = machine(), sys.argv[1:] or list(SECTIONS)
    kept = json.loads(path.read_text())["sections"] if path.exists() and sys.argv[1:] else {}
    sections = {}
    for name, run in SECTIONS.items():
        if name in wanted:
            print(name, file=sys.stderr)
            sections[name] = [row._asdict() for row in run()]
        elif name in kept:
            sections[name] = kept[name]
    results = {"machine": described, "sections": sections}
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    lines = [", ".join(f"{name} {value}" for name, value in results["machine"].items()), ""]
    lines.append("| what | measured | compared with | ratio | shared out | target | met |")
    lines.append("|---|---|---|---:|---:|---:|---|")
    for row in (row for rows in sections.values() for row in rows):
        ratio, shared_out = told(row["ratio"]), told(row["shared_out"])
        met = {None: "", True: "yes", False: "**no**"}[row["met"]]
        cells = (row["what"], row["measured"], row["baseline"], ratio, shared_out, row["target"], met)
        lines.append(f"| {' | '.join(cells)} |")
    (HERE / "results.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
