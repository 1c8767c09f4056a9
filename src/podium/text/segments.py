"""Segments of an index: kept beside the store, in `NAME.cache`, and made again where they are missing or unsound.

`NAME.cache/segments.json` lists the folders. New documents make a new segment; many segments or many deleted documents
make one new segment of all.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

from podium.files import write_aside
from podium.text.segment import Segment, build
from podium.text.store import Store

MOST = 8
"""Segments before they are merged."""
MOST_DEAD = 0.2
"""Share of deleted documents before segments are merged."""


def read_segments(store: Store) -> list[Segment]:
    """The segments of all documents of a store, without those that are deleted."""
    folder = store.path.with_name(f"{store.path.name}.cache")
    flags, deleted = store.flags(), store.deleted()
    found = _cached(store, folder, n_terms=len(flags))
    last = int(found[-1][1].numbers[-1]) if found else -1
    tokens = store.tokens(after=last)
    if len(tokens.numbers):
        found.append((f"{tokens.numbers[0]}-{tokens.numbers[-1]}-{store.changes()}", build(tokens, flags)))
    segments = [segment.without(deleted) for _, segment in found]
    dead, size = sum(len(one) - one.alive for one in segments), sum(map(len, segments))
    if len(segments) > MOST or dead > MOST_DEAD * size:
        tokens = store.tokens()
        found = [(f"all-{store.changes()}", build(tokens, flags))] if len(tokens.numbers) else []
        segments = [segment for _, segment in found]
        _save(store, folder, found)
    elif len(tokens.numbers):
        _save(store, folder, found)
    return segments


def _cached(store: Store, folder: Path, *, n_terms: int) -> list[tuple[str, Segment]]:
    """What is kept of this store, as far as it is sound."""
    found: list[tuple[str, Segment]] = []
    try:
        about = json.loads((folder / "segments.json").read_bytes())
        fits = about["store"] == store.key and about["changes"] <= store.changes()  # never from a later state
        names = about["segments"] if fits else []
        for name in names:
            segment = Segment.load(folder / str(name), n_fields=len(store.fields), n_terms=n_terms)
            if found and segment.numbers[0] <= found[-1][1].numbers[-1]:
                return []
            found.append((str(name), segment))
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError):
        return []
    return found


def _save(store: Store, folder: Path, segments: list[tuple[str, Segment]]) -> None:
    """Keep the segments, of which the last is new; where nothing can be written, it is made again next time."""
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        if segments:  # the last one is new
            name, segment = segments[-1]
            shutil.rmtree(folder / name, ignore_errors=True)
            segment.save(folder / name)
        names = [name for name, _ in segments]
        with write_aside(folder / "segments.json") as file:
            file.write(json.dumps({"store": store.key, "changes": store.changes(), "segments": names}).encode())
        for old in folder.iterdir():
            if old.is_dir() and old.name not in names:
                shutil.rmtree(old, ignore_errors=True)
