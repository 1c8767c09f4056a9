"""Values: frozen dataclasses whose methods are written here once.

`dataclasses` writes and compiles a constructor and comparisons for each class. For the two hundred classes that have a
name, that took a quarter of the time in which `podium methods` answers.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

T = TypeVar("T")


def frozen(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass, its methods those of this file unless it has its own, but for `__repr__`."""
    made = dataclasses.dataclass(frozen=True, repr=False, init=False, eq=False)(cls)
    for name, method in _METHODS.items():
        if name not in made.__dict__:
            setattr(made, name, method)
    return made


def _init(self: Any, /, *args: Any, **named: Any) -> None:
    fields = dataclasses.fields(self)
    if len(args) > len(fields):
        raise TypeError(f"{type(self).__name__} takes {len(fields)} arguments; got {len(args)}.")
    given = dict(zip((field.name for field in fields), args, strict=False))
    for name in named:
        if name in given or not any(field.name == name for field in fields):
            what = "two values for" if name in given else "an unexpected keyword argument"
            raise TypeError(f"{type(self).__name__} got {what} {name!r}.")
    given |= named
    for field in fields:
        if field.name not in given and field.default is dataclasses.MISSING:
            raise TypeError(f"{type(self).__name__} needs the argument {field.name!r}.")
        object.__setattr__(self, field.name, given.get(field.name, field.default))
    self.__post_init__()


def _eq(self: Any, other: Any) -> Any:
    return _fields(self) == _fields(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_fields(self))


def _fields(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in type(self).__match_args__)


class _Signature:
    """What `inspect.signature` and help say of the class."""

    def __get__(self, instance: Any, owner: type) -> Signature:
        from inspect import Parameter, Signature

        return Signature(
            Parameter(
                field.name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if field.default is dataclasses.MISSING else field.default,
                annotation=field.type,
            )
            for field in dataclasses.fields(owner)  # type: ignore[arg-type]
        )


_METHODS = {"__init__": _init, "__eq__": _eq, "__hash__": _hash, "__signature__": _Signature()}
