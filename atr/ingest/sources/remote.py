"""Objects of S3, and of what speaks like it: found by their address, and fetched into a scratch file to be read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import duckdb

from atr.core.display_text import printable
from atr.errors import AtrError, EnvironmentFault, IngestError
from atr.ingest.sources.base import Needed, Opened, Part, Relation, literally
from atr.ingest.sources.files import is_data
from atr.programme.log import Log
from atr.warehouse.connection import Parameters, Warehouse, quoted
from atr.warehouse.extensions import load_extension
from atr.warehouse.store import os_faults

SCHEME = "s3://"

Kind: TypeAlias = Callable[[Path, Log, Warehouse, Needed], Opened]
"""How a file of a kind is opened."""

_SETTLED = timedelta(minutes=5)
"""What was written less long ago by a server's clock may be written again within the same second of it."""


@dataclass(frozen=True)
class Object:
    """An object: its address, its size in bytes, and when it was written."""

    address: str
    size: int
    written: datetime
    reader: Warehouse
    """A DuckDB of its own, which knows the credentials."""

    def state(self) -> str | None:
        """Give what changes with it; None if that is not to be relied upon yet."""
        settled = datetime.now(UTC) - self.written > _SETTLED
        return json.dumps([self.size, self.written.isoformat()]) if settled else None

    @cached_property
    def sha256(self) -> str:
        """The hash of its content."""
        ((found,),) = ask(self.reader, self.address, "SELECT sha256(content) FROM read_blob($1)")
        return str(found)

    @contextmanager
    def fetched(self, kind: Kind, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[Relation | None]:
        """Open it as a file of a kind; faults tell its address."""
        with warehouse.scratch_folder() as folder:
            path = folder / self.address.rpartition("/")[2]
            copy = f"COPY (SELECT content FROM read_blob($1)) TO '{quoted(str(path))}' (FORMAT blob, COMPRESSION none)"  # noqa: S608
            with os_faults(warehouse.path or path):
                ask(self.reader, self.address, copy)
                with path.open("rb") as content:
                    same = hashlib.file_digest(content, "sha256").hexdigest() == self.sha256
            if not same:
                raise IngestError("was changed while it was read", where=self.address, hint="Start again.")
            try:
                with kind(path, log, warehouse, needed) as relation:
                    yield relation
            except AtrError as error:
                error.where = error.where.replace(str(path), self.address)
                raise


@dataclass(frozen=True)
class ObjectPart(Part):
    """An object of a log."""

    object: Object = field(kw_only=True)

    def state(self) -> str | None:
        return self.object.state()

    def key(self) -> str | None:
        return self.key_of(self.object.sha256)


def objects(sources: Sequence[str], *, may_be_none: bool) -> dict[str, Object]:
    """Find the objects that addresses name: one by one, by prefixes that end in a slash, and by patterns.

    Parameters
    ----------
    sources
        The addresses.
    may_be_none
        Whether an address may name none.

    Returns
    -------
    Address to object.

    Raises
    ------
    IngestError
        If an address names none.
    EnvironmentFault
        If the server cannot be reached, or refuses the credentials.
    """
    found: dict[str, Object] = {}
    if not sources:
        return found
    reader = _reader()
    for source in sources:
        pattern = f"{source}**" if source.endswith("/") else source
        fixed = re.split(r"[*?\[]", source)[0].rpartition("/")[0] + "/"
        rows = ask(reader, pattern, "SELECT filename, size, last_modified FROM read_blob($1)", source)
        there = {
            address: Object(address, size, written, reader)
            for address, size, written in rows
            if not address.endswith("/") and (address == source or is_data(address.removeprefix(fixed), source))
        }
        if not there and not may_be_none:
            raise _none(source)
        found |= there
    return found


def _none(source: str) -> IngestError:
    hint = "An address is s3://bucket/name, where the name may be a pattern, or end in a slash."
    return IngestError(f"there is no object {printable(source)}", where="log.source", hint=hint)


def _reader() -> Warehouse:
    """A DuckDB with the credentials that the environment has."""
    reader = Warehouse.in_memory()
    load_extension(reader.connection, "httpfs", f"an address that begins with {SCHEME}")
    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    options: dict[str, str | None] = {
        "KEY_ID": os.environ.get("AWS_ACCESS_KEY_ID"),
        "SECRET": os.environ.get("AWS_SECRET_ACCESS_KEY"),
        "SESSION_TOKEN": os.environ.get("AWS_SESSION_TOKEN"),
        "REGION": os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
    }
    if endpoint.netloc:
        options |= {"ENDPOINT": endpoint.netloc + endpoint.path.rstrip("/"), "URL_STYLE": "path"}
        options |= {"USE_SSL": str(endpoint.scheme != "http").lower()}
    given = "".join(f", {name} '{quoted(value)}'" for name, value in options.items() if value)
    refused = False
    try:
        reader.connection.execute(f"CREATE SECRET (TYPE s3{given})")
    except duckdb.Error:  # what it says is left behind
        refused = True
    if refused:
        raise EnvironmentFault("the credentials cannot be used", hint="Look at the variables AWS_….")
    return reader


def ask(reader: Warehouse, address: str, sql: str, source: str | None = None) -> list[tuple[Any, ...]]:
    """Ask the server. What DuckDB says of a failure is left behind: it may hold what nobody else is to know."""
    named = literally(address) if source is None else address
    try:
        return reader.connection.execute(sql, Parameters([named])).fetchall()
    except duckdb.InterruptException:
        raise
    except duckdb.OutOfMemoryException:
        hint = "Write it as several smaller objects, or raise ATR_MEMORY_LIMIT."
        fault: AtrError = EnvironmentFault("is too large for the memory", where=address, hint=hint)
    except duckdb.HTTPException as error:
        status, where = error.status_code, printable(source or address)
        if status == 404:
            fault = _none(where)
        elif status in (401, 403):
            hint = "Look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and at who may read it."
            fault = EnvironmentFault("the server refuses the credentials", where=where, hint=hint)
        else:
            hint = "Look at AWS_REGION and AWS_ENDPOINT_URL, or start again later."
            fault = EnvironmentFault(f"the server answers with HTTP status {status}", where=where, hint=hint)
    except duckdb.Error:
        hint = "Look at AWS_ENDPOINT_URL and AWS_REGION, at the network, and at the free space of the store."
        fault = EnvironmentFault("cannot be fetched from the server", where=printable(source or address), hint=hint)
    raise fault
