"""Segments of an index: cached beside the store, in `NAME.cache`, and rebuilt if they are missing or damaged.

`NAME.cache/segments.json` lists the folders with checksums of their files, verified at opening. New documents
form a new segment; many segments or many deleted documents are merged into one.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.base.errors import DataError, IndexFileError, PodiumWarning
from podium.base.files import claimed, write_aside
from podium.text.index.segment import Segment, build

if TYPE_CHECKING:
    from podium.text.index.store import Store

FORMAT = 2
"""Of the arrays; others are rebuilt."""
MOST = 8
"""Segments before they are merged."""
MOST_DEAD = 0.2
"""Share of deleted documents before segments are merged."""
Part = tuple[str, Segment, dict[str, int]]
"""The name of a folder, its segment, and the checksums of its files; empty if it is new."""


def read_segments(store: Store) -> list[Segment]:
    """The segments of a store, without deleted documents; new or merged ones are saved."""
    folder = store.path.with_name(f"{store.path.name}.cache")
    flags, deleted = store.flags(), store.deleted()
    parts, listed = _cached(store, folder, n_terms=len(flags))
    last = int(parts[-1][1].numbers[-1]) if parts else -1
    tokens = store.tokens(after=last)
    if len(tokens.numbers):
        parts.append((_new_name(), build(tokens, flags), {}))
    segments = [segment.without(deleted) for _, segment, _ in parts]
    dead, size = sum(len(segment) - segment.alive for segment in segments), sum(map(len, segments))
    if len(segments) > MOST or dead > MOST_DEAD * size:
        tokens = store.tokens()
        parts = [(_new_name(), build(tokens, flags), {})] if len(tokens.numbers) else []
        segments = [segment for _, segment, _ in parts]
        _save(store, folder, parts, listed)
    elif len(tokens.numbers):
        _save(store, folder, parts, listed)
    alive, written = sum(segment.alive for segment in segments), store.rows("document")
    if alive != written:
        raise IndexFileError(
            f"{store.path}: damaged: {alive} documents where {written} were written. Make it again, or restore a copy."
        )
    return segments


def _new_name() -> str:
    """A name that no other process gives a folder."""
    return secrets.token_hex(8)


def _list(folder: Path) -> bytes | None:
    """What the list of segments says now; None if there is none."""
    try:
        return (folder / "segments.json").read_bytes()
    except OSError:
        return None


def _cached(store: Store, folder: Path, *, n_terms: int) -> tuple[list[Part], bytes | None]:
    """The cached segments of a store, none if they are damaged, and the list that they were read by."""
    while (text := _list(folder)) is not None:
        try:
            return _load(store, folder, text, n_terms), text
        except Exception as error:  # any damage: they are rebuilt
            if _list(folder) != text:  # another process has saved others meanwhile
                continue
            warnings.warn(f"{folder}: damaged ({error}); it is made again from the index.", PodiumWarning, stacklevel=2)
            break
    return [], text


def _load(store: Store, folder: Path, text: bytes, n_terms: int) -> list[Part]:
    about = json.loads(text)
    if set(about) in ({"store", "changes", "segments"}, {"state", "segments", "sum"}) or about["format"] != FORMAT:
        return []  # of another podium
    if zlib.crc32(_head(about)) != about["sum"]:
        raise ValueError("its list does not match its checksum")
    if about["state"] not in store.states():  # of another store, or a later state
        return []
    parts: list[Part] = []
    for name, sums in about["segments"]:
        segment = Segment.load(folder / str(name), sums, n_fields=len(store.fields), n_terms=n_terms)
        if parts and segment.numbers[0] <= parts[-1][1].numbers[-1]:
            raise ValueError("its segments are not in order")
        parts.append((str(name), segment, sums))
    return parts


def _head(about: dict[str, Any]) -> bytes:
    return json.dumps([about["state"], about["segments"]]).encode()


def _save(store: Store, folder: Path, parts: list[Part], listed: bytes | None) -> None:
    """Save the segments, of which the last is new, unless another process has changed the list that they come from.

    The list is replaced before folders are removed, so that a reader who finds one gone sees that the list is new.
    If it fails, the last segment is rebuilt at the next opening.
    """
    with contextlib.suppress(OSError, DataError):
        folder.mkdir(exist_ok=True)
        with claimed(folder):
            if _list(folder) != listed:
                return
            rows = [[name, sums or segment.save(folder / name)] for name, segment, sums in parts]
            about = {"format": FORMAT, "state": store.states()[-1], "segments": rows}
            with write_aside(folder / "segments.json") as file:
                file.write(json.dumps({**about, "sum": zlib.crc32(_head(about))}).encode())
            _remove_folders(folder, {name for name, _, _ in parts})


def _remove_folders(folder: Path, names: set[str]) -> None:
    for old in folder.iterdir():
        if old.is_dir() and old.name not in names:
            shutil.rmtree(old, ignore_errors=True)
