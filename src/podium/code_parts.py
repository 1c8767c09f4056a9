"""What a compiled function is made of: its code, and that of all compiled functions and constants that it uses."""

from __future__ import annotations

import hashlib
from types import CodeType, ModuleType
from typing import Any

import numpy as np


def digest(function: Any) -> str:
    """A text that changes when the function, or anything that goes into its machine code, does."""
    parts: dict[str, str] = {}
    _add_parts(function, parts)
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


def _add_parts(function: Any, parts: dict[str, str]) -> None:
    """Add the code of a function, and of all compiled functions and constants that it uses, under their names."""
    name = f"{function.__module__}.{function.__qualname__}"
    if name in parts:
        return
    parts[name] = ""
    used = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    names, text = _read(function.__code__)
    parts[name] = text
    for word in sorted(names):
        value = used[word].cell_contents if word in used else function.__globals__.get(word)
        if isinstance(value, ModuleType):  # `module.function` in the code: any of the names may be of the module
            for other in sorted(names & vars(value).keys()):
                _add_value(f"{name}.{word}.{other}", getattr(value, other), parts)
        else:
            _add_value(f"{name}.{word}", value, parts)


def _add_value(where: str, value: Any, parts: dict[str, str]) -> None:
    if hasattr(value, "py_func"):
        parts[where] = f"{value.py_func.__module__}.{value.py_func.__qualname__}"
        _add_parts(value.py_func, parts)
    elif hasattr(value, "_defn"):  # an intrinsic
        parts[where] = _read(value._defn.__code__)[1]
    elif isinstance(value, np.ndarray):
        parts[where] = hashlib.sha256(value.tobytes()).hexdigest()
    elif isinstance(value, bool | int | float | str | tuple | np.generic):
        parts[where] = repr(value)


def _read(code: CodeType) -> tuple[set[str], str]:
    """The names that code uses, and the code as text, with that of code inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    plain = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType | frozenset)]
    names, text = {*code.co_names, *code.co_freevars}, f"{code.co_code.hex()} {plain} {code.co_names}"
    for part in inner:
        more, inside = _read(part)
        names, text = names | more, f"{text} {inside}"
    return names, text
