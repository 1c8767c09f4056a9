"""Disk cache of machine code: a file per function, signature (types of arguments), processor and numba configuration.

numba's own cache compiles a function again if its file changed, but not if a function that it calls changed in another
file. Here, a file starts with a digest of its content, of all sources that the function's module imports (see
`sources`), and of the versions of podium, Python, numba, llvmlite and numpy. After an edit or upgrade, or if the file
is damaged, the digest differs: the function is compiled again and its file replaced.

Folders, best first: NUMBA_CACHE_DIR alone if it is set; else `__pycache__` next to the source, and the user's cache.

The content is in numba's format, a pickle, which could run any code. So a file is loaded only if this user or root owns
it and nobody else may write it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from podium.base.version import version
from podium.jit.sources import sources_digest
from podium.jit.symbols import define_resolver

if TYPE_CHECKING:
    from numba.core.codegen import CPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.cpu import CPUContext

_WITHOUT_EFFECT = ("CACHE", "NUM_THREADS", "THREADING", "DISABLE_JIT", "COLOR", "WARNINGS", "CUDA", "GDB", "DUMP")


class DiskCache:
    """Cache of one compiled function, with the methods that numba's dispatcher calls.

    It keeps nothing if there is no digest of the sources or no folder that can be written.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function = function
        self._options = [
            (name, sorted(value) if isinstance(value, set) else value) for name, value in sorted(options.items())
        ]
        self._folders = cache_folders(function)

    @property
    def cache_path(self) -> str:
        return str(self._folders[0]) if self._folders else ""

    def load_overload(self, sig: object, target_context: CPUContext) -> Any:
        """Load the machine code for a signature; None if there is none."""
        define_resolver()
        target_context.refresh()
        path, stamp = self._place(sig, target_context.codegen())
        for folder in self._folders if stamp else []:
            content = _read_own(folder / path)
            if content is not None and content[:32] == _seal(stamp, content[32:]):
                result = _Format().rebuild(target_context, pickle.loads(content[32:]))
                return result if normalize_signature(sig)[1] in (None, result.signature.return_type) else None
        return None

    def save_overload(self, sig: object, data: CompileResult) -> None:
        """Save machine code in the first folder that can be written."""
        path, stamp = self._place(sig, data.codegen)
        if not stamp or data.library.has_dynamic_globals or data.lifted:
            return
        content = dumps(_Format().reduce(data))
        for folder in self._folders:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write_own(folder / path, _seal(stamp, content) + content)
                return
            except OSError:
                continue

    def enable(self) -> None: ...  # numba calls these three; this cache is always enabled and never flushed

    def disable(self) -> None: ...

    def flush(self) -> None: ...

    def _place(self, sig: object, codegen: CPUCodegen) -> tuple[str, bytes]:
        """File name for a signature, and a stamp of sources and versions; an empty stamp: do not cache.

        A signature counts by its arguments, as for numba's dispatcher, whether or not it declares a result.
        """
        modules: set[str] = set()
        kinds = str(normalize_signature(sig)[0])
        whole = repr((_identity(self._function, modules), self._options, kinds, codegen.magic_tuple(), _settings()))
        digests = [sources_digest(module) for module in sorted(modules)]
        stamp = b"" if None in digests or " at 0x" in whole else repr((digests, _versions())).encode()
        name = f"{self._function.__name__}-{hashlib.sha256(whole.encode()).hexdigest()[:32]}.podium"
        return name, stamp


def name_apart(function: Callable[..., Any]) -> None:
    """Give a closure a name of its own in machine code, by what it holds.

    numba tells functions of one name apart by a number that each process counts anew. Where the code of two processes
    comes together, of closures of one name and number only the first would be run.
    """
    if function.__closure__:
        digest = hashlib.sha256(repr(_identity(function, set())).encode()).hexdigest()
        function.__qualname__ = f"{function.__code__.co_qualname}_{digest[:32]}"


class _Format(CompileResultCacheImpl):  # type: ignore[misc]
    """numba's conversion of compiled code to and from a pickle, without its choice of a folder."""

    def __init__(self) -> None: ...


def cache_folders(function: Callable[..., Any]) -> list[Path]:
    """Folders for machine code, best first: NUMBA_CACHE_DIR, or else next to the source or in the user's cache."""
    chosen = numba.config.CACHE_DIR
    source = os.path.abspath(function.__code__.co_filename)
    part = f"{Path(source).parent.name}_{hashlib.sha256(os.path.dirname(source).encode()).hexdigest()[:32]}"
    if chosen:
        return [Path(chosen) / part]
    user = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(user):  # also if it is empty; a relative folder is never meant
        user = os.path.expanduser("~/.cache")
    return [Path(source).parent / "__pycache__", *([Path(user) / "podium" / part] if os.path.isabs(user) else [])]


def can_write(function: Callable[..., Any]) -> bool:
    """Whether the machine code of a function is kept for the next process."""
    for folder in cache_folders(function) if sources_digest(function.__module__) else []:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return True
    return False


def _read_own(path: Path) -> bytes | None:
    """The content of a file that this user or root owns and nobody else may write; None if there is no such file."""
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            own = not hasattr(os, "geteuid") or (
                state.st_uid in (os.geteuid(), 0) and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            )
            return file.read() if own else None
    except OSError:
        return None


def _write_own(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it; nobody else may write it, whatever the umask is."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag
        with open(os.open(aside, flags, 0o644), "wb") as file:
            file.write(content)
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def _seal(stamp: bytes, content: bytes) -> bytes:
    """Digest of a stamp and a content, the first 32 bytes of a file."""
    return hashlib.sha256(len(stamp).to_bytes(8, "big") + stamp + content).digest()


def _identity(value: Any, modules: set[str]) -> Any:
    """Description of a function or value, the same in every process; adds modules of functions in it to `modules`."""
    function = getattr(value, "py_func", value)
    if callable(function) and hasattr(function, "__code__"):
        modules.add(function.__module__)
        cells = [_identity(cell.cell_contents, modules) for cell in function.__closure__ or ()]
        code = function.__code__
        constants = [repr(constant) for constant in code.co_consts if not hasattr(constant, "co_code")]
        return function.__module__, code.co_qualname, code.co_firstlineno, code.co_code, constants, cells
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
    return repr(value)


@functools.cache
def _settings() -> str:
    """numba's configuration, without the options that do not change machine code."""
    names = [name for name in vars(numba.config) if name.isupper() and not any(p in name for p in _WITHOUT_EFFECT)]
    return repr([(name, str(getattr(numba.config, name))) for name in sorted(names)])


@functools.cache
def _versions() -> tuple[str, ...]:
    return version(), platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__
