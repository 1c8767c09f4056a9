"""Files: read plain or gzipped, from anywhere; written aside and renamed, so that nothing half-written is left behind.

>>> with write_aside("scores.txt") as file:  # doctest: +SKIP
...     file.write(b"0.5\\n")
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from podium.errors import DataError

Source = str | os.PathLike[str] | BinaryIO
"""A path, "-" for standard input or output, or a binary file object."""


_OPEN = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}
"""Files that are open already: written where they are, since opening them again would cut off what they hold."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def write_aside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends, and vanishes if the block fails."""
    target = Path(os.path.realpath(path))  # through a symbolic link, which stays one
    opened = _OPEN.get(os.fspath(path))
    if opened is not None or (os.path.exists(path) and not os.path.isfile(path)):  # a pipe cannot be replaced
        with _named_errors(path), os.fdopen(os.dup(opened), "wb") if opened else open(path, "wb") as file:
            yield file
        return
    aside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        with _named_errors(path), open(aside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside)
        os.replace(aside, target)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DataError(
            f"cannot be written: {error.strerror}. Free some space, or choose another folder.", where=os.fspath(path)
        ) from error
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def folder_aside(path: str | os.PathLike[str], *, replaces: Callable[[Path], bool]) -> Iterator[Path]:
    """An empty folder that takes the place of `path` when the block ends, and vanishes if the block fails.

    A folder that is there already is replaced if `replaces` says that it may be.
    """
    target = Path(os.path.realpath(path))
    aside, old = (target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.{end}") for end in ("part", "old"))
    if target.exists() and not replaces(target):
        raise DataError("is there already, and not something to replace. Choose another name.", where=os.fspath(path))
    try:
        os.mkdir(aside)
        yield aside
        if target.exists():
            os.replace(target, old)
        os.replace(aside, target)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}.", where=os.fspath(path)) from error
    finally:
        for folder in (aside, old):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say which file cannot be written where the system does not: a full disk is noticed by a write without a name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def write_texts(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> None:
    r"""Write text files into a folder, by name; each replaces an older one as a whole.

    Bytes of ids that are not UTF-8, which are lone surrogates here, are written as \udcXX, which JSON reads back.
    """
    for name, text in texts.items():
        with write_aside(Path(folder) / name) as file:
            file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def writing(target: Source) -> Iterator[BinaryIO]:
    """A binary file to write to: a path (gzipped where it ends in .gz; replaced at the end), "-", or an open file."""
    if isinstance(target, str) and target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif not isinstance(target, str | os.PathLike):
        yield target
    elif os.fspath(target).endswith(".gz"):
        # no time stamp and no name: the same content gives the same bytes
        with write_aside(target) as file, gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]
    else:
        with write_aside(target) as file:
            yield file


@contextmanager
def reading(source: Source) -> Iterator[BinaryIO]:
    """A binary file to read from: a path, "-", or an open file. Gzip is known by its first bytes, not by name."""
    own: BinaryIO | None = None
    if isinstance(source, str) and source == "-":
        stream: Any = sys.stdin.buffer
    elif isinstance(source, str | os.PathLike):
        stream = own = _open(source)
    else:
        stream = source
    peeks = stream if hasattr(stream, "peek") else _peekable(stream)
    try:
        packed = peeks.peek(2)[:2] == b"\x1f\x8b"
        yield gzip.GzipFile(fileobj=peeks, mode="rb") if packed else peeks  # type: ignore[misc]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"the gzip stream is damaged or cut short ({error}).", where=source_name(source)) from error
    finally:
        if peeks is not stream:
            peeks.detach()
        if own is not None:
            own.close()


def source_name(source: Source) -> str:
    """What messages call a source."""
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<data>"


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise DataError("no such file.", where=os.fspath(path)) from None
    except IsADirectoryError:
        raise DataError("is a folder; a file was expected.", where=os.fspath(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", where=os.fspath(path)) from error


def _peekable(stream: Any) -> Any:
    if isinstance(stream, io.TextIOBase):
        raise DataError("a binary file is needed; open it with mode 'rb'.", where=source_name(stream))  # type: ignore[arg-type]
    return io.BufferedReader(stream)
