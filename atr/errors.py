"""Every error a user can meet: what is wrong, where, and what to do about it.

    AtrError
    ├── ProgrammeError     the programme file is wrong                            exit 1
    ├── IngestError        a log cannot be read, or does not fit the programme    exit 1
    ├── PeriodError        a period is unknown, incomplete or has no decisions    exit 1
    ├── ReviewError        the release to review is missing or was changed        exit 1
    ├── VerifyError        the file to verify is no report that could be checked  exit 1
    │   └── FormatError    it is a report that another release checks             exit 2
    ├── RefusedError       a privacy or quality gate said no                      exit 3
    └── EnvironmentFault   lock, disk, server or a missing system library         exit 4

No message carries a value from the log: messages reach logs and Prefect's database.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class AtrError(Exception):
    """Base of all errors that are the user's to mend.

    Parameters
    ----------
    message
        What is wrong, in one sentence. Publishable: no value that depends on the true decisions.
    where
        File, line, key or row.
    hint
        What to do.
    private
        What only the person at the keyboard and the reviewer may see, such as the groups that bind. It is neither
        part of the text nor pickled: Prefect keeps both.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "", private: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.private = private

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n{self.hint}" if self.hint else text

    def __reduce__(self) -> Any:
        return partial(type(self), where=self.where, hint=self.hint), (self.message,)


class ProgrammeError(AtrError):
    """The programme file is wrong."""


class IngestError(AtrError):
    """A log cannot be read, or does not fit the programme."""


class PeriodError(AtrError):
    """A period is unknown, or the log has no decisions in it."""


class ReviewError(AtrError):
    """The release to review is missing, already decided, or was changed since it was made."""


class VerifyError(AtrError):
    """The file to verify is no report that could be checked."""


class FormatError(VerifyError):
    """The report to verify is of a format that another release checks."""

    exit_code = 2


class RefusedError(AtrError):
    """A privacy or quality gate refused to go on."""

    exit_code = 3


class EnvironmentFault(AtrError):  # noqa: N818 - EnvironmentError is a builtin
    """The machine is in the way: a lock, a disk, a server, a missing library."""

    exit_code = 4
