"""The JSON Schemas of programme file and public files; ``python -m atr.schemas FOLDER`` writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from atr import programme
from atr.records.model import PublicRecords
from atr.report.model import PublicReport


def schemas() -> dict[str, str]:
    """The JSON Schemas as text, by file name."""
    made = {
        "programme.schema.json": programme.json_schema(),
        "report.schema.json": PublicReport.model_json_schema(),
        "channel.schema.json": PublicRecords.model_json_schema(),
    }
    return {name: json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in made.items()}


if __name__ == "__main__":
    for name, text in schemas().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
