"""The programme file as YAML, and what is wrong with it, in words and with the line it is on."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from atr.core.display_text import printable
from atr.core.fields import FaultAtError
from atr.core.policy import Policy
from atr.errors import ProgrammeError
from atr.mechanisms import MECHANISMS
from atr.programme.series import Programme

_MOST_KEYS = 100_000
_TAGS = ("[key]", "[plain]", "[keys]", "[list]", "[words]", "[languages]")
"""What pydantic adds to the keys that lead to a fault."""
_YAML = {
    "\\t": "Indent with spaces, not with tabs.",
    "mapping values are not allowed": 'A text with a colon must be in quotes, as in title: "Loans: 2025".',
    "could not find expected ':'": "Every key is followed by a colon and a space. Look above that line too.",
    "expected ',' or": "Is a bracket or brace above it not closed, or a comma missing?",
    "special characters": "The file holds a character that is not text.",
}
_MESSAGES = {
    "missing": "this key is missing",
    "value_error": "{error}",
    "literal_error": "{shown} is not one of {expected}",
    "string_pattern_mismatch": "may have lower-case letters, digits and dashes only (it names a folder)",
    "too_short": "needs {min_length} at least, and has {actual_length}",
    "too_long": "may have {max_length} at most, and has more",
    "greater_than_equal": "must be at least {ge:g}, not {value}",
    "greater_than": "must be above {gt:g}, not {value}",
    "less_than_equal": "must be at most {le:g}, not {value}",
    "string_type": "must be a text, not {shown}",
    "bool_type": "must be true or false, without quotes, not {shown}",
    "int_type": "must be a whole number, not {shown}",
    "finite_number": "must be a finite number, not {shown}",
    "float_type": "must be a number, not {shown}",
    "tuple_type": "must be a list, as in [a, b], not {shown}",
    "dict_type": "must be keys with values, not {shown}",
    "model_type": "must be keys with values, not {shown}",
    "model_attributes_type": "must be keys with values, not {shown}",
}
"""By the kind of a fault, as pydantic calls it."""
Place = tuple[int, str]
Loc = tuple[str | int, ...]


def parse(text: str, path: Path) -> tuple[dict[str, Any], dict[Loc, Place]]:
    """Read the YAML of a programme file, with the places of its keys.

    Parameters
    ----------
    text
        The content of the file.
    path
        The file, for messages.

    Returns
    -------
    The keys and values; and for the keys that lead to each value, its line from 1 and how it is written there.

    Raises
    ------
    ProgrammeError
        If it is no valid YAML of keys with values, or a key stands twice, naming the line.
    """
    places: dict[Loc, Place] = {}
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            raise ProgrammeError("the file is empty", where=str(path), hint="`atr init` writes an example.")
        data = _construct(loader, root, (), places, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        hint = next((advice for words, advice in _YAML.items() if words in problem), "Look above that line too.")
        raise ProgrammeError(f"not valid YAML: {problem}", where=f"{path}{line}", hint=hint) from None
    except RecursionError:
        raise ProgrammeError("an alias refers to itself, or keys are nested too deeply", where=str(path)) from None
    if not isinstance(data, dict):
        found = "a list" if isinstance(data, list) else "a single value"
        message = f"must be keys with values, such as `programme: name`, not {found}"
        raise ProgrammeError(message, where=f"{path}, line {root.start_mark.line + 1}")
    return data, places


def _construct(loader: yaml.SafeLoader, node: yaml.Node, loc: Loc, places: dict[Loc, Place], path: Path) -> Any:
    places[loc] = (node.start_mark.line + 1, node.value if isinstance(node, yaml.ScalarNode) else "")
    if len(places) > _MOST_KEYS:
        raise ProgrammeError(f"holds more than {_MOST_KEYS:,} keys and values, aliases expanded", where=str(path))
    if isinstance(node, yaml.SequenceNode):
        return [_construct(loader, child, (*loc, i), places, path) for i, child in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node, deep=True)
    loader.flatten_mapping(node)
    result: dict[str, Any] = {}
    for key_node, child in node.value:
        key = loader.construct_object(key_node, deep=True)
        where = ", ".join([f"{path}, line {key_node.start_mark.line + 1}", *([".".join(map(str, loc))] if loc else [])])
        if not isinstance(key, str):
            comma = isinstance(key, int) and node.flow_style and isinstance(child, yaml.ScalarNode) and not child.value
            raise ProgrammeError(
                f"{key} is taken for a key: write decimals with a point, as in 0.9"
                if comma
                else _unquoted(key_node.value, key),
                where=where,
            )
        if key in result:
            raise ProgrammeError(f"the key '{key}' stands twice", where=where)
        result[key] = _construct(loader, child, (*loc, key), places, path)
        places[*loc, key] = (key_node.start_mark.line + 1, places[*loc, key][1])
    return result


def _unquoted(raw: Any, value: Any) -> str:
    kind = {bool: "true or false", type(None): "nothing"}.get(type(value), "a number or a date")
    return f'{raw} must be in quotes, as in "{raw}": without them YAML reads it as {kind}'


def in_words(error: ValidationError, places: dict[Loc, Place], path: Path) -> ProgrammeError:
    """Make one error that names the line and the key of every fault.

    Parameters
    ----------
    error
        What pydantic found.
    places
        From :func:`parse`.
    path
        The file, for messages.

    Returns
    -------
    The error to raise.
    """
    faults = error.errors()
    misspelt = {(*f["loc"][:-1], _near(f["loc"])) for f in faults if f["type"] == "extra_forbidden"}
    told = dict.fromkeys(_explain(f, places) for f in faults if f["type"] != "missing" or f["loc"] not in misspelt)
    if len(told) == 1:
        ((where, message),) = told
        return ProgrammeError(message, where=f"{path}, {where}")
    lines = "".join(f"\n  {where}: {message}" for where, message in told)
    return ProgrammeError(f"{len(told)} mistakes{lines}", where=str(path))


def _explain(fault: Mapping[str, Any], places: dict[Loc, Place]) -> tuple[str, str]:
    """Where a fault is, and what it is."""
    loc = tuple(part for part in fault["loc"] if part not in _TAGS)
    if loc[:1] == ("policy",) and loc[1:2] and loc[1] in MECHANISMS:  # pydantic adds which of them was meant
        loc = (loc[0], *loc[2:])
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, FaultAtError):
        loc = (*loc, *cause.keys)
    known = loc
    while known and known not in places:
        known = known[:-1]
    key = ".".join(str(part) for part in loc)
    return f"line {places[known][0]}, {key}" if known in places else key, _what(fault, loc, places)


def _what(fault: Mapping[str, Any], loc: Loc, places: dict[Loc, Place]) -> str:
    kind, value = fault["type"], fault["input"]
    if kind == "extra_forbidden":
        loc = fault["loc"]
        near = _near(loc)
        return "unknown key; " + (f"did you mean '{near}'?" if near else f"the keys here are {', '.join(_keys(loc))}")
    if (kind == "string_type" and isinstance(value, bool | int | float)) or "date" in type(value).__name__:
        return _unquoted(places.get(loc, (0, value))[1], value)
    if value is None or kind == "string_too_short" or (kind == "too_short" and not value):
        return "has no value"
    return _MESSAGES[kind].format(**fault.get("ctx", {}), shown=_shown(value), value=value)


def _shown(value: Any) -> str:
    """A value of the programme file in a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "keys with values"
    return f"'{printable(value)}'" if isinstance(value, str) else str(value).lower()


def _keys(loc: Loc) -> list[str]:
    """The keys there can be where this one is."""
    part: type[BaseModel] = Programme
    for key in loc[:-1]:
        if issubclass(part, Policy) and key in MECHANISMS:  # pydantic adds whose policy it is
            part = MECHANISMS[str(key)].policy
        elif key in part.model_fields:
            part = next(_parts(part.model_fields[str(key)].annotation), part)
    return list(part.model_fields)


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:
    """The parts of a programme file that an annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _parts(inner)


def _near(loc: Loc) -> str:
    """The key that a misspelt one is likely meant to be; empty if there is none."""
    return next(iter(difflib.get_close_matches(str(loc[-1]), _keys(loc), n=1)), "")
