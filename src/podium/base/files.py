"""Files: read plain or gzipped; written to a temporary file and renamed, so that none is ever half-written.

>>> with write_aside("scores.txt") as file:  # doctest: +SKIP
...     file.write(b"0.5\\n")
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import re
import secrets
import shutil
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from podium.base.errors import DataError

try:
    import fcntl

    _LOCKS = True
except ImportError:  # a system without such locks
    _LOCKS = False

Source = str | os.PathLike[str] | BinaryIO
"""A path, "-" for standard input or output, or a binary file object."""


_OPEN = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}
"""Files that are open already: written in place, since opening them again would truncate them."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def write_aside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a binary file that replaces `path` when the block ends, and is removed if the block fails."""
    target = Path(os.path.realpath(path))  # through a symbolic link, which stays one
    opened = _OPEN.get(os.fspath(path))
    if opened is not None or (os.path.exists(path) and not os.path.isfile(path)):  # a pipe cannot be replaced
        with _named_errors(path), os.fdopen(os.dup(opened), "wb") if opened else open(path, "wb") as file:
            yield file
        return
    try:
        with _named_errors(path), _temporary(target, Path.touch) as aside:
            with open(aside, "wb") as file:
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


@contextmanager
def folder_aside(path: str | os.PathLike[str], *, replaces: Callable[[Path], bool]) -> Iterator[Path]:
    """Fill an empty folder that replaces `path` when the block ends, and is removed if the block fails.

    An existing folder is replaced in one step if `replaces(folder)`: a kill leaves the old or the new one. Whatever
    appears there while the block runs stays, and is an error. One process writes at a time.
    """
    target, where = Path(os.path.realpath(path)), os.fspath(path)
    try:
        with _claim(_beside(target), where), _temporary(target, Path.mkdir) as aside:
            before = identity(target)
            if before is not None and not replaces(target):
                raise DataError("is there already, and not something to replace. Choose another name.", where=where)
            yield aside
            if identity(target) != before or (before is not None and not replaces(target)):
                raise DataError("something else appeared there meanwhile, and stays. Choose another name.", where=where)
            if before is None:
                os.rename(aside, target)
            else:
                _exchange(aside, target)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}.", where=where) from error


def lock(file: int | BinaryIO, *, wait: bool) -> None:
    """Lock an open file until it is closed; BlockingIOError if another process has locked it and `wait` is false.

    A system without such locks locks nothing.
    """
    if _LOCKS:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def claimed(path: str | os.PathLike[str], *, wait: float = 0.0) -> Iterator[None]:
    """Lock a file or folder for writing: another process gets a DataError after `wait` seconds.

    The lock is the operating system's, on FOLDER/.lock or on .FILE.lock next to a file, and ends with the process,
    however it ends. A thread may lock again what it has locked. A system without such locks locks nothing.
    """
    target = Path(os.path.realpath(path))
    with _claim(target / ".lock" if target.is_dir() else _beside(target), os.fspath(path), wait=wait):
        yield


@contextmanager
def _claim(place: Path, where: str, *, wait: float = 0.0) -> Iterator[None]:
    """Create and lock a lock file, and remove it in the end."""
    owner = (place, threading.get_ident())
    if not _LOCKS or owner in _CLAIMED:
        yield
        return
    descriptor = _locked(place, where, time.monotonic() + wait)
    _CLAIMED.add(owner)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        _CLAIMED.discard(owner)
        place.unlink(missing_ok=True)
        os.close(descriptor)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.lock")


_CLAIMED: set[tuple[Path, int]] = set()
"""The files that threads of this process have locked."""


def sweep(folder: str | os.PathLike[str], name: str | None = None) -> None:
    """Remove temporary files that killed processes left in a folder: all, or those that were to become `name`."""
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for entry in list(os.scandir(folder)):
            left = _TEMPORARY.fullmatch(entry.name)
            if left is not None and name in (None, left["name"]):
                _clear(Path(entry.path), Path(folder, left["name"]))


_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{12}\.(part|old)", re.DOTALL)


def _clear(left: Path, target: Path) -> None:
    """Remove a temporary file or folder unless its process lives; put back a folder that was to be replaced."""
    if left.suffix == ".old":
        with contextlib.suppress(DataError), _claim(_beside(target), str(target)):
            if not target.exists():
                os.rename(left, target)
            shutil.rmtree(left, ignore_errors=True)
        return
    descriptor = _marked(left, wait=False)
    if descriptor is not None:
        _remove(left)
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _temporary(target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A temporary file or folder next to `target`, created by `make` and removed when the block ends.

    It is locked while its process lives, so that others do not remove it.
    """
    name = target.name[:100]
    sweep(target.parent, name)
    descriptor = None
    while descriptor is None:  # a sweep came between
        aside = target.with_name(f".{name}.{secrets.token_hex(6)}.part")
        make(aside)
        if not _LOCKS:
            break
        descriptor = _marked(aside, wait=True)
    try:
        yield aside
    finally:
        _remove(aside)
        if descriptor is not None:
            os.close(descriptor)


def _marked(path: Path, *, wait: bool) -> int | None:
    """A descriptor that locks a temporary file or folder; None if another process has locked or removed it."""
    if not _LOCKS:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        lock(descriptor, wait=wait)
    except OSError:  # locked by another process, or no locks on this file system: not to be removed
        if wait:
            return descriptor
        os.close(descriptor)
        return None
    if _same(descriptor, path):
        return descriptor
    os.close(descriptor)
    return None


def _locked(place: Path, where: str, until: float) -> int:
    """A descriptor of a file, locked; a clear error if another process holds the lock until then."""
    while True:
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}.", where=where) from error
        try:
            lock(descriptor, wait=False)
        except BlockingIOError:
            process = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
            os.close(descriptor)
            if time.monotonic() >= until:
                raise DataError(
                    f"another podium (process {process or 'unknown'}) is writing here. Wait until it ends, or choose "
                    f"another {'folder' if place.name == '.lock' else 'name'}.",
                    where=where,
                ) from None
            time.sleep(0.02)
        except OSError:  # a file system without locks
            return descriptor
        else:
            if _same(descriptor, place):
                return descriptor
            os.close(descriptor)  # its owner has just removed it


def _same(descriptor: int, path: Path) -> bool:
    """Whether a path still leads to an open file or folder."""
    about = os.fstat(descriptor)
    return identity(path) == (about.st_dev, about.st_ino)


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file or folder, which change if another replaces it; None if there is none."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return None
    return about.st_dev, about.st_ino


def _exchange(folder: Path, other: Path) -> None:
    """Swap two folders: in one step if the system can, else so that `sweep` repairs what a kill leaves."""
    if sys.platform == "linux":
        import ctypes

        renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
        if renameat2 is not None and renameat2(-100, os.fsencode(folder), -100, os.fsencode(other), 2) == 0:
            return
    old = folder.with_suffix(".old")
    os.rename(other, old)
    os.rename(folder, other)
    os.rename(old, folder)


@contextmanager
def _named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file's name to errors without one, such as a full disk's."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def write_texts(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> None:
    r"""Write text files into a folder, by name; each replaces an older one as a whole.

    Bytes of ids that are not UTF-8, in memory lone surrogates, are written as \udcXX, which JSON reads back.
    """
    for name, text in texts.items():
        with write_aside(Path(folder) / name) as file:
            file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def writing(target: Source) -> Iterator[BinaryIO]:
    """Open a binary file to write to: a path (gzipped if it ends in .gz; replaced at the end), "-", or an open file."""
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
    """Open a binary file to read from: a path, "-", or an open file. Gzip is recognised by its first bytes."""
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


def first_bytes(source: Source, size: int = 2**12) -> bytes:
    """The first bytes of a file, unpacked, which stay to be read; none of a pipe, which can be read only once."""
    if isinstance(source, str | os.PathLike) and source != "-":
        if not os.path.isfile(source):
            return b""
        with reading(source) as file:
            return file.read(size)
    stream: Any = sys.stdin.buffer if source == "-" else source
    if hasattr(stream, "peek"):
        head: bytes = stream.peek(size)[:size]
        return zlib.decompressobj(31).decompress(head, size) if head[:2] == b"\x1f\x8b" else head
    if not hasattr(stream, "seekable") or not stream.seekable() or isinstance(stream, io.TextIOBase):
        return b""
    start = stream.tell()
    with reading(stream) as file:
        head = file.read(size)
    stream.seek(start)
    return head


def source_name(source: Source) -> str:
    """Name of a source in messages."""
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
