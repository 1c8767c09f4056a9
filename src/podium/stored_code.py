"""Machine code that an earlier process stored, called without numba.

numba takes half a second to start, which a command that answers in less should not wait for. So what numba compiles is
also kept in a file of its own for each function and kinds of arguments, with all that it depends on in the file's name:
the code, the processor, and the versions of Python, numba and llvmlite. LLVM loads it in a few milliseconds, with the
parts of numba that are written in C and that the code calls. This is for functions of arrays and numbers that Python
calls now and then: to tell the kinds of arguments apart costs more here than in numba. Where anything is unusual,
nothing is found, and numba does it.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import hashlib
import importlib.util
import json
import os
import re
import sys
import threading
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from podium.code_parts import digest

_NUMBERS = {int: "int64", float: "float64", bool: "bool", np.int64: "int64", np.float64: "float64"}
_HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}
_LOCK = threading.RLock()
_KEPT: list[Any] = []


def kind_of(value: Any) -> str | None:
    """What numba tells apart in an argument; None if it is neither a plain array nor a number."""
    if type(value) is np.ndarray:
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return array_kind(value.dtype, value.ndim, layout, flags.writeable) if flags.aligned else None
    if type(value) is int and not -(2**63) <= value < 2**63:
        return None
    return _NUMBERS.get(type(value))


def array_kind(dtype: np.dtype[Any], ndim: int, layout: str, writeable: bool) -> str | None:
    return f"{dtype.str}{ndim}{layout}{'' if writeable else 'r'}" if dtype.kind in "biuf" else None


def kinds_of_signature(text: str) -> tuple[str | None, ...]:
    """The kinds of the arguments of, for instance, `float64(float64[::1], int64)`."""
    kinds: list[str | None] = []
    for name, inside in re.findall(
        r"\b(\w++)(?:\[([^\[\]]*+)\])?\s*+[,)]", text.replace("boolean", "bool").partition("(")[2]
    ):
        layout = "C" if inside.endswith("::1") else "F" if inside.startswith("::1") else "A"
        kinds.append(array_kind(np.dtype(name), inside.count(",") + 1, layout, True) if inside else name)
    return tuple(kinds)


def entry(function: Any, options: dict[str, Any], kinds: tuple[str | None, ...]) -> Callable[..., Any] | None:
    """The stored function for arguments of these kinds, or None."""
    found = _loaded(function, options, kinds)
    return None if found is None else found[0]


def address(function: Any, options: dict[str, Any], signature: str) -> int | None:
    """Where the stored function for a signature lies, or None."""
    try:
        kinds = kinds_of_signature(signature)
    except TypeError:  # of a type that numpy has no name for
        return None
    found = _loaded(function, options, kinds)
    _KEPT.append(found)  # the code at the address lives as long as the function
    return found[1] if found is not None and found[2] == signature.partition("(")[0] else None


def store(
    function: Any, options: dict[str, Any], kinds: tuple[str | None, ...], about: dict[str, Any], code: bytes
) -> None:
    """Keep machine code for later processes, where a folder can be written. `about` has what `_load` needs."""
    from podium.errors import DataError
    from podium.files import writing

    name = _file_name(function, options, kinds)
    if name is None:
        return
    head = json.dumps({**about, "sha256": hashlib.sha256(code).hexdigest()}).encode()
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with writing(folder / name) as file:
                file.write(head + b"\n" + code)
            return
        except (OSError, DataError):
            continue


def _folders() -> list[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen) / "podium"]
    return [
        Path(__file__).parent / "__pycache__",
        Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "podium",
    ]


def _file_name(function: Any, options: dict[str, Any], kinds: tuple[str | None, ...]) -> str | None:
    target = _target()
    if target is None or None in kinds:
        return None
    settings = sorted((name, sorted(value) if isinstance(value, set) else value) for name, value in options.items())
    whole = repr((function.__module__, function.__qualname__, digest(function), settings, kinds, target))
    return f"{function.__name__}-{hashlib.sha256(whole.encode()).hexdigest()[:32]}.code"


@functools.cache
def _target() -> str | None:
    """The processor and the versions that code is for; None where settings of numba may change what it makes."""
    import llvmlite
    import llvmlite.binding as llvm

    if {name for name in os.environ if name.startswith("NUMBA_")} - _HARMLESS or Path(".numba_config.yaml").exists():
        return None
    version = (_numba_folder() / "_version.py").read_text()  # to import numba is what is saved here
    features = llvm.get_host_cpu_features().flatten()
    return repr(
        (sys.version, version, llvmlite.__version__, llvm.get_process_triple(), llvm.get_host_cpu_name(), features)
    )


def _numba_folder() -> Path:
    found = importlib.util.find_spec("numba")
    assert found is not None, "podium requires numba"
    return Path(str(found.origin)).parent


def _loaded(
    function: Any, options: dict[str, Any], kinds: tuple[str | None, ...]
) -> tuple[Callable[..., Any], int, str] | None:
    """A stored function, its address and what it returns."""
    try:
        with _LOCK:
            name = _file_name(function, options, kinds)
            path = None if name is None else next((f / name for f in _folders() if (f / name).is_file()), None)
            return None if path is None else _load(function, path)
    except Exception:  # a damaged file, or a version of numba whose parts lie elsewhere: numba itself will do
        return None


def _load(function: Any, path: Path) -> tuple[Callable[..., Any], int, str] | None:
    import llvmlite.binding as llvm

    head, _, code = path.read_bytes().partition(b"\n")
    about = json.loads(head)
    make = _c_parts()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)  # one each: names may be the same
    if about["sha256"] != hashlib.sha256(code).hexdigest() or not all(map(llvm.address_of_symbol, about["symbols"])):
        return None  # LLVM would end the process where a name is unknown
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    environment = make.Environment(function.__globals__)
    ctypes.c_void_p.from_address(engine.get_global_value_address(about["environment"])).value = id(environment)
    made = make.make_function(
        sys.modules[function.__module__], function.__name__, function.__doc__ or "",
        engine.get_function_address(about["wrapper"]), environment, (engine, environment),
    )  # fmt: skip
    return made, engine.get_function_address(about["function"]), about["returns"]


@functools.cache
def _c_parts() -> Any:
    """Load the parts of numba that are written in C and tell LLVM their names, as numba does when it starts."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    folder = _numba_folder()
    helpers, functions = _c_module("numba._helperlib", folder), _c_module("numba._dynfunc", folder)
    runtime = _c_module("numba.core.runtime._nrt_python", folder / "core" / "runtime")
    names = {f"numba_{name}": place for name, place in {**helpers.c_helpers, **functions.c_helpers}.items()}
    names |= {name if name[0] == "_" else f"NRT_{name}": place for name, place in runtime.c_helpers.items()}
    errors = [
        error for error in vars(builtins).values() if isinstance(error, type) and issubclass(error, BaseException)
    ]
    names |= {f"PyExc_{error.__name__}": id(error) for error in errors} | {"_Py_NoneStruct": id(None)}
    for name, place in names.items():
        llvm.add_symbol(name, place)
    return functions


def _c_module(name: str, folder: Path) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    spec = PathFinder.find_spec(name, [str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop(name, None)  # for numba to import, if it comes to that
    return module
