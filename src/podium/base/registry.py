"""Registry: one grammar of names and parameters for losses, scorers, solvers, metrics, transforms and methods.

Each is a frozen dataclass whose `repr` is its name with the parameters that differ from their defaults, and parsing
that text gives an equal value back:

    >>> from podium.losses import Loss
    >>> Loss.parse("ranknet(sigma=2.0)")
    ranknet(sigma=2.0)

The same text is used on the command line, in configs, saved models and reports. Plug-ins name a module in an entry
point of the group `podium`, or are files (see `plugin_files`); importing them registers their classes.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import math
import numbers
import operator
import re
import types
import typing
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

from podium.base.errors import ParameterError, UnknownNameError
from podium.base.familiar_names import renamed
from podium.base.plugin_files import is_plugin_module, load_plugin_files

T = TypeVar("T")


def param(
    default: object,
    *,
    above: float | None = None,
    below: float | None = None,
    least: float | None = None,
    most: float | None = None,
    search: tuple[float, float] | tuple[float, float, Literal["log"]] | list[Any] | None = None,
) -> Any:
    """A parameter with its bounds: `above` and `below` are exclusive, `least` and `most` are inclusive.

    `search` is the range for tuning: from … to …, on a logarithmic scale with "log", or a list of values.
    """
    about = {"above": above, "below": below, "least": least, "most": most, "search": search}
    return dataclasses.field(default=default, metadata={k: v for k, v in about.items() if v is not None})


class Named:
    """A value with a name and parameters. A subclass that sets `kind` has its own registry."""

    kind: ClassVar[str]
    """The kind of thing: loss, scorer, metric… One registry per kind."""
    name: ClassVar[str]
    """Registered name; by default the file's name with hyphens, in a script or a plug-in file the class's."""
    home: ClassVar[str]
    """The package whose public names fill this registry, each in the file of its name, e.g. `podium.losses`."""
    elsewhere: ClassVar[tuple[str, ...]] = ()
    """Modules outside of `home` that register values of this kind."""
    _catalogues: ClassVar[dict[str, dict[str, type[Named]]]] = {}

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            _check(self, field, getattr(self, field.name))

    def __repr__(self) -> str:
        return self.name + _arguments(self)

    @classmethod
    def catalogue(cls) -> dict[str, type[Self]]:
        """Every registered class of this kind, by name."""
        home = importlib.import_module(cls.home)
        for public in getattr(home, "__all__", ()):
            getattr(home, public)  # imports the module that defines it
        for module in cls.elsewhere:
            importlib.import_module(module)
        load_plugins()
        classes = cls._registered()
        return {name: classes[name] for name in sorted(classes)}

    @classmethod
    def find(cls, name: str) -> type[Self]:
        """The registered class of a name. Imports the file of that name, or all of this kind if it is not there.

        `name`: name of an aggregator, e.g. kemeny; another raises `UnknownNameError` with the nearest names.
        """
        _import_file_of(name, cls.home, cls.elsewhere)
        load_plugins()
        classes = cls._registered()
        if name not in classes or _is_plugin(classes[name], cls.home):
            cls.catalogue()  # raises an error if podium and a plug-in use the same name
        if name not in classes:
            see = "podium methods" if cls.kind == "loss" else None
            raise UnknownNameError(cls.kind, name, sorted(classes), see=see)
        return classes[name]

    @classmethod
    def parse(cls, text: str) -> Self:
        """The value that `text` names: `name` or `name(parameter=value, …)`."""
        name, arguments = split_call(text)
        return build(cls.find(name), arguments)

    @classmethod
    def _registered(cls) -> dict[str, type[Self]]:
        """The classes of this kind whose modules are imported."""
        return Named._catalogues.setdefault(cls.kind, {})  # type: ignore[return-value]


@dataclass_transform(frozen_default=True, field_specifiers=(param, dataclasses.field))
def register(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass and enter it in the registry of its kind."""
    frozen = dataclasses.dataclass(frozen=True, repr=False)(cls)
    named = typing.cast(type[Named], frozen)
    if "name" not in named.__dict__:
        named.name = _default_name(named)
    registered = Named._catalogues.setdefault(named.kind, {})
    other = registered.get(named.name)
    if other is not None and (other.__module__, other.__qualname__) != (named.__module__, named.__qualname__):
        kinds = f"{named.kind}es" if named.kind.endswith("s") else f"{named.kind}s"
        raise ParameterError(f"Two {kinds} are called {named.name!r}: {other.__module__} and {named.__module__}.")
    registered[named.name] = named
    return frozen


def _default_name(cls: type) -> str:
    """The file's name with hyphens; for a class in a script, notebook or plug-in file its own: MyLoss is my-loss."""
    if cls.__module__ != "__main__" and not is_plugin_module(cls.__module__):
        return cls.__module__.rpartition(".")[2].replace("_", "-")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
    return words.strip("_").replace("_", "-").lower()


def _import_file_of(name: str, home: str, elsewhere: tuple[str, ...]) -> None:
    """Import the module with this name in the package `home` or among `elsewhere`, if there is one."""
    word = name.replace("-", "_")
    package = importlib.import_module(home)
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name):  # no file, such as __main__, that holds nothing with a name
        return
    if hasattr(package, "__path__") and importlib.util.find_spec(f"{home}.{word}"):
        importlib.import_module(f"{home}.{word}")
    for module in elsewhere:
        if module.rpartition(".")[2] == word:
            importlib.import_module(module)


def _is_plugin(cls: type, home: str) -> bool:
    """Whether a class comes from another distribution than the package `home`."""
    return cls.__module__.partition(".")[0] != home.partition(".")[0]


@functools.cache
def load_plugins() -> None:
    """Import every module named by an entry point of the group `podium`, and every plug-in file."""
    from importlib.metadata import entry_points

    for point in entry_points(group="podium"):
        point.load()
    load_plugin_files()


def build(cls: type[T], arguments: dict[str, str]) -> T:
    """An instance of `cls` from the texts of its parameters."""
    return cls(**read_all(cls, arguments))


def read_all(cls: type, arguments: dict[str, str]) -> dict[str, Any]:
    """Parse the texts of parameters of `cls`."""
    hints, where = field_types(cls), getattr(cls, "name", cls.__name__)
    own = renamed(arguments, hints)
    for key in own:
        if key not in hints:
            raise UnknownNameError(f"parameter of {where}", key, hints)
    return {key: read(text, hints[key], f"{where}: {key}") for key, text in own.items()}


def search_space(cls: type) -> dict[str, tuple[Any, ...] | list[Any]]:
    """Ranges for tuning the hyperparameters of a registered class that declare one."""
    return {field.name: field.metadata["search"] for field in dataclasses.fields(cls) if "search" in field.metadata}


def field_types(cls: type) -> dict[str, Any]:
    """The declared type of each parameter of a registered class."""
    return _field_types(cls)


@functools.cache
def _field_types(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls) if field.init}


def split_call(text: str) -> tuple[str, dict[str, str]]:
    """Split `name(a=1, b=f(c=2))` into the name and the texts of its arguments."""
    text = text.strip()
    name, bracket, rest = text.partition("(")
    name = name.strip()
    if not name:
        raise ParameterError(f"{text!r} has no name. Write name or name(parameter=value, …).")
    if not bracket:
        return name, {}
    if not rest.rstrip().endswith(")"):
        raise ParameterError(f"{text!r}: the bracket after {name!r} is not closed.")
    arguments: dict[str, str] = {}
    for part in split_list(rest.rstrip()[:-1], text):
        key, equals, value = part.partition("=")
        if not equals or not key.strip().isidentifier():
            raise ParameterError(f"{text!r}: expected parameter=value, got {part!r}.")
        if key.strip() in arguments:
            raise ParameterError(f"{text!r}: {key.strip()} is given twice.")
        arguments[key.strip()] = value.strip()
    return name, arguments


def split_list(text: str, whole: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth > _DEEPEST:
            raise ParameterError(f"{whole[:80]!r} …: brackets may be nested {_DEEPEST} times at most.")
        if depth < 0:
            raise ParameterError(f"{whole!r}: a bracket is closed that was not opened.")
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    if depth:
        raise ParameterError(f"{whole!r}: a bracket is not closed.")
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


_DEEPEST = 20


def read(text: str, hint: Any, where: str) -> Any:
    """Parse `text` as a value of a declared type."""
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if text.lower() == "none" and type(None) in options:
            return None
        return _first(text, [option for option in options if option is not type(None)], where)
    if origin is typing.Literal:
        if text not in options:
            raise ParameterError(f"{where} must be one of {', '.join(map(str, options))}; got {text!r}.")
        return text
    if origin is tuple:
        inside = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
        return tuple(read(part, options[0], where) for part in split_list(inside, text))
    if isinstance(hint, type) and issubclass(hint, Named):
        return hint.parse(text)
    return _scalar(text, hint, where)


def write(value: object) -> str:
    """The text of a parameter's value; `read` gives the value back."""
    if isinstance(value, tuple):
        return "[" + ",".join(map(write, value)) + "]"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(value) if isinstance(value, str) else repr(value)


def _first(text: str, hints: list[Any], where: str) -> Any:
    errors = []
    for hint in hints:
        try:
            return read(text, hint, where)
        except ParameterError as error:
            errors.append(error)
    raise errors[0]


def _scalar(text: str, hint: Any, where: str) -> Any:
    if hint is bool:
        if text.lower() not in ("true", "false"):
            raise ParameterError(f"{where} must be true or false; got {text!r}.")
        return text.lower() == "true"
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            word = "a whole number" if hint is int else "a number"
            raise ParameterError(f"{where} must be {word}; got {text!r}.") from None
    return text


def _arguments(value: Named) -> str:
    changed = []
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        if not field.init:
            continue
        now = getattr(value, field.name)
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if now != default:
            changed.append(f"{field.name}={write(now)}")
    return f"({','.join(changed)})" if changed else ""


def _check(owner: Named, field: dataclasses.Field[Any], value: object) -> None:
    hint = field_types(type(owner)).get(field.name)
    if hint is None:  # not a parameter
        return
    plain = _plain(value, hint)
    if plain is _UNFIT:
        raise ParameterError(f"{owner.name}: {field.name} must be {_words(hint)}; got {value!r}.")
    if plain is not value:
        object.__setattr__(owner, field.name, plain)
    if not isinstance(plain, (int, float)):
        return
    for word, (words, holds) in _BOUNDS.items():
        bound = field.metadata.get(word)
        if bound is not None and not holds(plain, bound):
            raise ParameterError(f"{owner.name}: {field.name} must be {words} {bound}; got {value!r}.")


_UNFIT = object()
_BOUNDS = {
    "above": ("above", operator.gt),
    "below": ("below", operator.lt),
    "least": ("at least", operator.ge),
    "most": ("at most", operator.le),
}


def _plain(value: Any, hint: Any) -> Any:
    """The value as its declared type, numpy's numbers made Python's so that they print plainly; or _UNFIT."""
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return next((plain for option in options if (plain := _plain(value, option)) is not _UNFIT), _UNFIT)
    if origin is typing.Literal:
        return value if value in options else _UNFIT
    if origin is tuple:
        items = tuple(_plain(item, options[0]) for item in value) if isinstance(value, (tuple, list)) else (_UNFIT,)
        return _UNFIT if _UNFIT in items else items
    if hint in (int, float) and isinstance(value, bool):
        return _UNFIT
    if hint is int:
        return int(value) if isinstance(value, numbers.Integral) else _UNFIT
    if hint is float:
        return float(value) if isinstance(value, numbers.Real) and math.isfinite(value) else _UNFIT
    return value if not isinstance(hint, type) or isinstance(value, hint) else _UNFIT


def _words(hint: Any) -> str:
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(_words, options))
    if origin is typing.Literal:
        return f"one of {', '.join(map(str, options))}"
    if origin is tuple:
        return f"a list, each {_words(options[0])}"
    if isinstance(hint, type) and issubclass(hint, Named):
        return f"a {hint.kind}"
    plain = {
        bool: "true or false",
        int: "a whole number",
        float: "a finite number",
        str: "text",
        types.NoneType: "none",
    }
    return plain.get(hint, str(hint))
