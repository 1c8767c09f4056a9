"""The Python interface: one page for each public name of podium."""

from __future__ import annotations

import importlib
import inspect
import re
import types
from typing import Any

import podium

from .arguments import fields, lent
from .docstrings import as_markdown, first_sentence
from .markdown import code, escaped, page, table, toctree


class _Bare:
    """Text that stands in a signature as it is, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def pages() -> dict[str, str]:
    """Pages of all public names, by path; a folder of names, such as `podium.clicks`, is one page."""
    names = sorted(name for name in podium.__all__ if not name.startswith("_"))
    values = {name: getattr(podium, name) for name in names}
    groups = {
        "Functions": [name for name in names if inspect.isroutine(values[name])],
        "Classes": [name for name in names if inspect.isclass(values[name])],
        "Modules": [name for name in names if inspect.ismodule(values[name])],
    }
    groups["Constants"] = [name for name in names if not any(name in group for group in groups.values())]
    sections = [f"## {title}\n\n{_listed(own, values)}" for title, own in groups.items() if own]
    index = page(
        "# Python interface",
        "`import podium` gives the names below; each is imported on first use. Parts such as losses and metrics are in "
        "subpackages, and have [pages by kind](../../reference.md).",
        *sections,
        toctree(names),
    )
    return {"api/index.md": index} | {f"api/{name}.md": _page(name, value) for name, value in values.items()}


def _listed(names: list[str], values: dict[str, Any]) -> str:
    rows = [[f"[{code(name)}]({name}.md)", escaped(first_sentence(_documentation(values[name])))] for name in names]
    return table(["name", "what it is"], rows)


def _page(name: str, value: Any) -> str:
    title = f"# podium.{escaped(name)}"
    if isinstance(value, types.ModuleType):
        members = {own: getattr(value, own) for own in sorted(getattr(value, "__all__", ()))}
        parts = [
            f"[{code(own)}]({own}.md): see there."
            if own in podium.__all__ and getattr(podium, own) is member
            else described(f"podium.{name}.{own}", member)
            for own, member in members.items()
        ]
        return page(title, as_markdown(value.__doc__), *parts)
    return page(title, described(f"podium.{name}", value))


def described(path: str, value: Any) -> str:
    """Description of a class, function or value in the domain of Python, so that it is in the index and search."""
    if isinstance(value, types.ModuleType):
        return f"{code(path)}: {escaped(first_sentence(value.__doc__))}"
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return _directive("data", path, as_markdown(_documentation(value)))
    if not inspect.isclass(value):
        return _directive(
            "function", path + signature(value), page(as_markdown(value.__doc__), _listed_items(lent(value)))
        )
    kind = "exception" if issubclass(value, BaseException) else "class"
    own = [_member(name, member, value) for name, member in members(value)]
    body = page(as_markdown(value.__doc__), _listed_items(fields(value)), *own).strip()
    return _directive(kind, path + signature(value), body, colons=4)


def _listed_items(explained: dict[str, str]) -> str:
    return "\n".join(f"- {code(name)}: {escaped(text)}" for name, text in explained.items())


def signature(value: Any) -> str:
    """Signature with the types as they are written."""
    try:
        plain = inspect.signature(value)
    except (ValueError, TypeError):
        return ""
    shown = [
        parameter.replace(annotation=_written(parameter.annotation), default=_value(parameter.default))
        for parameter in plain.parameters.values()
    ]
    result = inspect.Signature.empty if inspect.isclass(value) else _written(plain.return_annotation)
    return str(plain.replace(parameters=shown, return_annotation=result))


def members(cls: type) -> list[tuple[str, Any]]:
    """Public methods and properties that podium itself defines, with a docstring, in their order."""
    own: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("podium"):
            own |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    kinds = (types.FunctionType, classmethod, staticmethod, property)
    return [(name, member) for name, member in own.items() if isinstance(member, kinds) and _documentation(member)]


def _member(name: str, member: Any, cls: type) -> str:
    if isinstance(member, property):
        return _directive("property", name, as_markdown(member.__doc__))
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    body = page(as_markdown(function.__doc__), _listed_items(lent(function, cls)))
    if isinstance(member, staticmethod):
        return _directive("method", name + signature(function), body, ":staticmethod:")
    options = [":classmethod:"] if isinstance(member, classmethod) else []
    return _directive("method", name + _without_first(signature(function)), body, *options)


def _without_first(call: str) -> str:
    """A signature without `self` or `cls`."""
    return re.sub(r"^\((self|cls)(, )?", "(", call)


def _directive(kind: str, head: str, body: str, *options: str, colons: int = 3) -> str:
    fence = ":" * colons
    return "\n".join([f"{fence}{{py:{kind}}} {head}", *options, "", body, fence])


def _written(annotation: Any) -> Any:
    if annotation is inspect.Signature.empty:
        return annotation
    return _Bare(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def _value(default: Any) -> Any:
    if default is inspect.Signature.empty:
        return default
    text = repr(default)
    return _Bare("..." if "<" in text or len(text) > 60 else text)


def _documentation(value: Any) -> str:
    if isinstance(value, str | int | float | tuple | list | dict):
        return ""
    return (value.__func__.__doc__ if isinstance(value, classmethod | staticmethod) else value.__doc__) or ""


def module_names(module: str) -> dict[str, Any]:
    """Public classes of a module by name, in their order."""
    home = importlib.import_module(module)
    return {name: value for name, value in vars(home).items() if inspect.isclass(value) and value.__module__ == module}
