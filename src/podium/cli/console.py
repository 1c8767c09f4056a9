"""Shared by all commands: printing of tables, JSON and messages, and checks of output files."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from podium.base.errors import DataError, ParameterError, PodiumWarning
from podium.base.registry import split_list

_CONTROL = re.compile(r"\x1b(?!\[[01]m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
"""Control characters, by which a text could change what else a terminal shows; not blanks, and bold on and off."""


def open_streams() -> None:
    """Reopen standard input, output and error if they are closed, and let them print every character.

    A file opened while one of them is closed would take its number, and receive what is printed there.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    printable(sys.stdout)


def printable(stream: TextIO) -> None:
    """Let a stream print ids that are not UTF-8 as they were read, and escape characters that it cannot encode."""
    codecs.register_error("podium", _encoded)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="podium")


def _encoded(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError), "for printing alone"
    character, after = error.object[error.start], error.start + 1
    if "\udc80" <= character <= "\udcff":  # how a byte that is not UTF-8 was read
        return bytes([ord(character) - 0xDC00]), after
    return character.encode("ascii", "backslashreplace").decode(), after


def out(text: str) -> None:
    """Print a result; on a terminal with control characters escaped."""
    print(visible(text) if sys.stdout.isatty() else text, file=sys.stdout)


def discard_output() -> None:
    """Send standard output nowhere: what it still holds cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Print a message on standard error; names in it may be those of strangers."""
    sys.stdout.flush()
    print(visible(text), file=sys.stderr)


def visible(text: str) -> str:
    """Text with control characters escaped."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Print podium's warnings as lines when they come."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", PodiumWarning)
        warnings.showwarning = lambda message, *_: say(f"warning: {message}")
        yield


def print_json(value: Any) -> None:
    """Print a result as JSON."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    out(text.encode("utf-8", "backslashreplace").decode())  # bytes that are not UTF-8, as JSON writes them


Styles = Mapping[tuple[int, int], str]
"""The style of some cells of a table, by (row, column), e.g. bold."""


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, styles: Styles | None = None) -> None:
    """Print a table: with lines and styled cells on a terminal, aligned text elsewhere."""
    cells = [list(row) for row in rows]
    numeric = [bool(cells) and all(_is_number(row[c]) for row in cells) for c in range(len(heads))]
    if sys.stdout.isatty():
        _print_rich(heads, cells, numeric, styles or {})
        return
    widths = [max(len(row[c]) for row in [list(heads), *cells]) for c in range(len(heads))]
    for row in [list(heads), *cells]:
        pairs = zip(row, widths, numeric, strict=True)
        out("  ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in pairs).rstrip())


def split_option(values: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """Values of an option that may be repeated and may hold several, separated by commas."""
    parts = [part for value in values or () for part in split_list(value, value)]
    return parts or list(default)


def check_file(path: str, *, what: str) -> None:
    """Raise a clear error, before work starts, if a file cannot be written."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ParameterError(f"-o {path}: is a folder; {what} goes to a file.")
    check_folder(target.parent, given=path)


def check_output(folder: str) -> None:
    """Raise a clear error, before work starts, if a folder for results can neither be written to nor created."""
    target = Path(folder)
    check_folder(target if target.is_dir() else Path(target.absolute()).parent, given=folder)


def check_folder(folder: Path, *, given: str) -> None:
    """Raise a clear error, before work starts, if a folder cannot be written to."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise DataError(f"the folder {str(folder)!r} {what}. Make it, or choose another.", where=f"-o {given}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"the folder {str(folder)!r} is not yours to write to. Choose another.", where=f"-o {given}")


def _is_number(text: str) -> bool:
    return text in ("", "–") or text.replace(".", "", 1).lstrip("+-").isdigit()


def _print_rich(heads: Sequence[str], rows: list[list[str]], numeric: list[bool], styles: Styles) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head, number in zip(heads, numeric, strict=True):
        table.add_column(Text(visible(head)), justify="right" if number else "left", overflow="fold")
    for r, row in enumerate(rows):
        table.add_row(*(Text(visible(cell), style=styles.get((r, c), "")) for c, cell in enumerate(row)))
    Console().print(table)
