"""Explanations of the parameters of public functions, classes and methods.

A parameter is explained by a line of the docstring that begins with its name, by a sentence there that has it as code,
or by the text of a dataclass's field. What several functions share is explained once: a docstring that says "those of
`score`" or "as for `train`" borrows the lines of that function, and a method those of its namesake in a base class.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

import podium
from podium.cli.parameters import meanings

_ITEM = re.compile(r"^`(\w+)`: ", re.MULTILINE)
_ELSEWHERE = re.compile(r"(?:those of|as for) `(?:podium\.)?([\w.]+)`")
_SHAPE = re.compile(r"^\([\w ,+×·]*\),?")


def fields(cls: type) -> dict[str, str]:
    """Meaning of each field of a dataclass that its source explains."""
    if not dataclasses.is_dataclass(cls):
        return {}
    explained = meanings(cls)
    return {
        field.name: " ".join(explained[field.name].split())
        for field in dataclasses.fields(cls)
        if field.init and field.name in explained
    }


def lent(function: Any, cls: type | None = None) -> dict[str, str]:
    """Explanations of parameters that the docstring of a function, or of a method of a class, leaves to others."""
    own, explained = inspect.cleandoc(function.__doc__ or ""), dict[str, str]()
    for other in _lenders(function, own, cls):
        explained = _items(other.__doc__) | explained
    return {name: explained[name] for name in _names(function) if name in explained and f"`{name}`" not in own}


def unexplained(path: str, value: Any, cls: type | None = None) -> Iterator[str]:
    """Paths of the parameters of a function or class that nothing explains."""
    in_words = {name for name, text in fields(value).items() if _SHAPE.sub("", text)} if cls is None else set()
    explained = {*in_words, *(lent(value, cls) if inspect.isroutine(value) else ())}
    own = inspect.cleandoc(value.__doc__ or "")
    yield from (f"{path}: {name}" for name in _names(value) if name not in explained and f"`{name}`" not in own)


def _names(value: Any) -> list[str]:
    try:
        return [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]
    except (ValueError, TypeError):  # exceptions and others of C
        return []


def _lenders(function: Any, own: str, cls: type | None) -> Iterator[Any]:
    """Functions whose explanations hold for this one too, the nearest first."""
    for name in _ELSEWHERE.findall(own):
        value = getattr(cls, name, None) or _attribute(name)
        if inspect.isroutine(value):
            yield value
    for base in cls.__mro__[1:] if cls is not None else ():
        if isinstance(method := vars(base).get(function.__name__), types.FunctionType):
            yield method


def _attribute(path: str) -> Any:
    value: Any = podium
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def _items(text: str | None) -> dict[str, str]:
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    pieces = [_ITEM.split(part) for part in paragraphs if _ITEM.match(part)]
    return {name: " ".join(said.split()) for part in pieces for name, said in zip(part[1::2], part[2::2], strict=True)}
