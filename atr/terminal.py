"""How a command line of this project runs: its exit codes, its errors, its answers."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import typer
from typer.exceptions import TyperException

from atr.errors import AtrError, EnvironmentFault
from atr.version import __version__

INTERRUPTED = 130
AGAIN = "What was published is untouched; run the command again."


def application(about: str) -> typer.Typer:
    """A command line in the manner of this one."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, help=about)


def run(app: typer.Typer) -> int:
    """Run a command line; no traceback for a mistake in somebody's file.

    Returns
    -------
    Its exit code.
    """
    os.umask(0o077)
    for descriptor in range(3):  # one that is closed would be that of the next file to be opened
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    interrupts: list[int] = []

    def interrupt(sent: int, _frame: object) -> NoReturn:
        interrupts.append(sent)
        raise KeyboardInterrupt  # which typer makes an exit code of, and DuckDB an error of a query

    on_interrupt(interrupt)
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0
        return _interrupted() if interrupts else code
    except AtrError as error:
        return _told(type(error).__name__, error, error.exit_code)
    except TyperException as error:
        hint = "`atr --help` and `atr COMMAND --help` tell what there is."
        return _told("UsageError", AtrError(error.format_message(), hint=hint), error.exit_code)
    except OSError as error:
        fault = EnvironmentFault(error.strerror or str(error), where=str(error.filename or "this machine"))
        return _told("EnvironmentFault", fault, fault.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except Exception:
        return _interrupted() if interrupts else _told("InternalError", _internal_error(), 70)


def on_interrupt(handler: Callable[[int, Any], Any]) -> None:
    """Set what is done when the command is interrupted or terminated, or its terminal is gone."""
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(sent) != signal.SIG_IGN:  # as nohup has it
            signal.signal(sent, handler)


def _told(kind: str, error: AtrError, code: int) -> int:
    say(f"atr: {error}")
    if error.private:
        say(error.private)
    return failed(kind, error.message, code, where=error.where, hint=error.hint)


def _interrupted() -> int:
    say(f"atr: interrupted. {AGAIN}")
    return failed("Interrupted", "interrupted", INTERRUPTED, hint=AGAIN)


def failed(kind: str, message: str, code: int, *, where: str = "", hint: str = "") -> int:
    """Tell machines of an error, and return its exit code."""
    if "--json" in sys.argv[1:]:
        error = {"kind": kind, "message": message, "where": where, "hint": hint, "exit_code": code}
        typer.echo(json.dumps({"error": error}, ensure_ascii=False, indent=1))
    return code


def result(content: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """The answer on stdout: for people, or for machines."""
    if as_json:
        typer.echo(json.dumps(content, ensure_ascii=False, indent=1))
    elif lines:
        typer.echo("\n".join(lines))


def say(text: str) -> None:
    typer.echo(text, err=True)


def _internal_error() -> AtrError:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="atr-error-", delete=False) as file:
        file.write(f"atr {__version__}, Python {sys.version}\n\n{traceback.format_exc()}")
    return AtrError(
        f"an internal error, which is ours to mend. Please send {file.name} to the developers; read it first."
    )
