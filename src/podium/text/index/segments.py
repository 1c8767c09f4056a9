"""Segments of an index: cached beside the store, in `NAME.cache`, and rebuilt if they are missing or damaged.

`NAME.cache/segments.json` lists the folders with checksums of their files, verified at opening. New documents
form a new segment; many segments or many deleted documents are merged into one.
"""

from __future__ import annotations

import contextlib
import json
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
    parts = _cached(store, folder, n_terms=len(flags))
    last = int(parts[-1][1].numbers[-1]) if parts else -1
    tokens = store.tokens(after=last)
    if len(tokens.numbers):
        parts.append((f"{tokens.numbers[0]}-{tokens.numbers[-1]}-{store.changes()}", build(tokens, flags), {}))
    segments = [segment.without(deleted) for _, segment, _ in parts]
    dead, size = sum(len(segment) - segment.alive for segment in segments), sum(map(len, segments))
    if len(segments) > MOST or dead > MOST_DEAD * size:
        tokens = store.tokens()
        parts = [(f"all-{store.changes()}", build(tokens, flags), {})] if len(tokens.numbers) else []
        segments = [segment for _, segment, _ in parts]
        _save(store, folder, parts)
    elif len(tokens.numbers):
        _save(store, folder, parts)
    alive, written = sum(segment.alive for segment in segments), store.rows("document")
    if alive != written:
        raise IndexFileError(
            f"{store.path}: damaged: {alive} documents where {written} were written. Make it again, or restore a copy."
        )
    return segments


def _cached(store: Store, folder: Path, *, n_terms: int) -> list[Part]:
    """The cached segments of a store; none if they are damaged."""
    try:
        text = (folder / "segments.json").read_bytes()
    except OSError:
        return []
    try:
        return _load(store, folder, text, n_terms)
    except Exception as error:  # any damage: they are rebuilt
        with contextlib.suppress(OSError):
            if (folder / "segments.json").read_bytes() != text:  # another process is writing it
                return []
        warnings.warn(f"{folder}: damaged ({error}); it is made again from the index.", PodiumWarning, stacklevel=2)
        return []


def _load(store: Store, folder: Path, text: bytes, n_terms: int) -> list[Part]:
    about = json.loads(text)
    if set(about) == {"store", "changes", "segments"}:  # written before there were checksums
        return []
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


def _save(store: Store, folder: Path, parts: list[Part]) -> None:
    """Save the segments, of which the last is new; if that fails, it is rebuilt at the next opening."""
    with contextlib.suppress(OSError, DataError):
        folder.mkdir(exist_ok=True)
        with claimed(folder):
            _remove_folders(folder, {name for name, _, sums in parts if sums})
            listed = [[name, sums or segment.save(folder / name)] for name, segment, sums in parts]
            about = {"state": store.states()[-1], "segments": listed}
            with write_aside(folder / "segments.json") as file:
                file.write(json.dumps({**about, "sum": zlib.crc32(_head(about))}).encode())


def _remove_folders(folder: Path, names: set[str]) -> None:
    for old in folder.iterdir():
        if old.is_dir() and old.name not in names:
            shutil.rmtree(old, ignore_errors=True)
