"""The templates folder and the Jinja environment that every document is made in."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from atr.core.display_text import printable


def folder() -> Path:
    """The templates folder: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_templates"
    return installed if installed.is_dir() else package.parent / "templates"


@cache
def environment() -> jinja2.Environment:
    """The environment of all documents: everything is escaped, undefined names fail.

    Characters that control the text instead of showing are replaced, whoever supplied them.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )


def render(name: str, **context: Any) -> str:
    """Render one template.

    Parameters
    ----------
    name
        Path below the templates folder, such as ``report/report.html.jinja``.
    **context
        Variables of the template.
    """
    return environment().get_template(name).render(context)


def _visible(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
