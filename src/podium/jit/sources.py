"""Sources: a digest of all source files that a module imports, directly or through other modules, also in functions.

Machine code may depend on anything that its module imports: called functions, constants, and Python code that writes
instructions for LLVM. The disk cache therefore compares this digest and compiles again if it differs. Imports are found
in the text of a file, without running it. Followed are imports of podium's modules, of the module's own package (e.g. a
plug-in), and of files that are not installed, such as scripts. Other packages count by version only (see `disk_cache`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import sys
import sysconfig
from pathlib import Path

from podium.jit.compiled import STARTED

_PACKAGE = Path(__file__).parents[1]
_IMPORTS = re.compile(
    rb"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t\\\n]+(\([^)]*\)|[^\n;#(]+)|import[ \t]+([^\n;#]+))", re.M
)
_FOR_TYPES = re.compile(rb"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.M)


def sources_digest(module: str) -> str | None:
    """Digest that changes with any source file that a module imports; None if it cannot be trusted.

    That is so if a file is missing, or was changed after this process started: Python may have imported the old file.
    """
    loaded = sys.modules.get(module)
    path = getattr(loaded, "__file__", None)
    if path is None or not path.endswith(".py"):
        return None
    spec = getattr(loaded, "__spec__", None)
    return files_digest(module if spec is None else spec.name, Path(path))  # `python -m` calls it __main__


@functools.cache
def files_digest(name: str, path: Path) -> str | None:
    """As `sources_digest`, for the module of this name in a file."""
    waiting, hashes = [(name, path)], dict[str, str]()
    while waiting:
        module, file = waiting.pop()
        if module in hashes:
            continue
        content = _content(file)
        if content is None:
            return None
        hashes[module] = content
        waiting += _imported(module, file, name.partition(".")[0])
    return hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()


@functools.cache
def _content(path: Path) -> str | None:
    """A digest of a file; None if it cannot be read or was changed after this process started."""
    try:
        state, text = os.stat(path), path.read_bytes()
    except OSError:
        return None
    if max(state.st_mtime, state.st_ctime) > STARTED:
        return None
    return hashlib.sha256(text).hexdigest()


@functools.cache
def _imported(name: str, path: Path, own: str) -> list[tuple[str, Path]]:
    """Names and files of the modules that a module imports, without installed packages."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    files: dict[str, Path] = {}
    for origin, names, modules in _IMPORTS.findall(_FOR_TYPES.sub(b"", _text(path))):
        base = _absolute(origin.decode(), package)
        members = [_first_word(word) for word in names.strip(b"()").split(b",")] if origin else []
        for member in members:
            files |= _module_file(f"{base}.{member}", own) or _module_file(base, own)  # a module, or something in one
        for module in filter(None, map(_first_word, modules.split(b","))):
            parts = module.split(".")
            for size in range(len(parts)):
                files |= _module_file(".".join(parts[: size + 1]), own)
    return sorted(files.items())


def _text(path: Path) -> bytes:
    """Content of a source file; for a package also its stub, which lists the lazily imported modules."""
    stub = path.with_suffix(".pyi")
    return path.read_bytes() + (stub.read_bytes() if path.name == "__init__.py" and stub.is_file() else b"")


def _first_word(text: bytes) -> str:
    """The name in `name as other`, also if comments precede it."""
    words = re.sub(rb"#[^\n]*|\\", b"", text).decode().split()
    return words[0] if words else ""


def _absolute(origin: str, package: str) -> str:
    """The module of `from origin import …` within a package."""
    name = origin.lstrip(".")
    level = len(origin) - len(name)
    if level == 0:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [name])])


@functools.cache
def _module_file(module: str, own: str) -> dict[str, Path]:
    """The file of a module, unless it is installed or does not exist."""
    top, *rest = module.split(".")
    root = _root(top, own)
    if root is None:
        return {}
    place = root.joinpath(top, *rest)
    for path in (place.with_name(place.name + ".py"), place / "__init__.py"):
        if path.is_file():
            return {module: path}
    return {}


@functools.cache
def _root(top: str, own: str) -> Path | None:
    """Folder that holds a module or package; None if it is installed and not the package `own`."""
    if top == "podium":
        return _PACKAGE.parent
    if not top or top in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    path = Path(spec.origin)
    installed = not path.is_absolute() or any(path.is_relative_to(folder) for folder in _installed())
    if installed and top != own:
        return None
    return path.parents[1] if spec.submodule_search_locations else path.parent


@functools.cache
def _installed() -> list[str]:
    """Folders of installed packages and of the standard library."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return [*(sysconfig.get_path(name) for name in names), *(path for path in sys.path if path.endswith("-packages"))]
