"""The compiled half of the LETOR writer: rows of numbers to lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.compiled import compiled
from podium.ids import Ids
from podium.text_bytes import DOT, SPARE, ZERO, byte, copy, place_of, put_word


def feature_lines(heads: Ids, block: Any, notes: Ids | None) -> bytes:
    """A line for each row: its head, ` feature:value …`, its note.

    All features of a dense row, the stored ones of a sparse row; a whole number is written without a point.
    """
    if isinstance(block, np.ndarray):
        columns, which = np.arange(block.shape[1]), np.tile(np.arange(block.shape[1]), len(block))
        ends, numbers = np.arange(len(block) + 1) * block.shape[1], block.ravel()
    else:
        columns, which = np.unique(block.indices, return_inverse=True)
        ends, numbers = block.indptr.astype(np.int64), block.data
    keys, values = Ids.from_bytes([b" %d:" % (column + 1) for column in columns.tolist()]), _decimals(numbers)
    after = Ids.of([""] * len(heads)) if notes is None else notes
    sizes = [int((part.ends - part.starts).sum()) for part in (heads, values, keys[which], after)]
    out = np.empty(sum(sizes) + len(heads) + SPARE, np.uint8)
    size = _write(*_spans(heads), *_spans(keys), which.astype(np.int64), *_spans(values), ends, *_spans(after), out)
    return out[:size].tobytes()


def _decimals(numbers: NDArray[np.float32]) -> Ids:
    """Each number with the fewest digits that tell it from all other float32, from a million on with an exponent."""
    words = numbers.astype("S32").tolist()
    for k in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= 1e6)).tolist():
        words[k] = np.format_float_scientific(numbers[k], trim="-", exp_digits=2).encode()
    return Ids.from_bytes(words)


def _spans(ids: Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    return ids.text, np.ascontiguousarray(ids.starts), np.ascontiguousarray(ids.ends)


@compiled
def _write(
    head: Any, head_starts: Any, head_ends: Any, key: Any, key_starts: Any, key_ends: Any, which: Any,
    value: Any, value_starts: Any, value_ends: Any, ends: Any, note: Any, note_starts: Any, note_ends: Any, out: Any,
) -> int:  # fmt: skip
    """Write all rows to `out`. Returns how many bytes."""
    heads, keys, values, notes = (
        place_of(head),
        place_of(key),
        place_of(value),
        place_of(note),
    )
    begin = at = place_of(out)
    for row in range(len(head_starts)):
        at = copy(heads + head_starts[row], heads + head_ends[row], at)
        for k in range(ends[row], ends[row + 1]):
            at = copy(keys + key_starts[which[k]], keys + key_ends[which[k]], at)
            start, end = values + value_starts[k], values + value_ends[k]
            if end - start > 2 and byte(end - 1) == ZERO and byte(end - 2) == DOT:
                end -= 2
            at = copy(start, end, at)
        at = copy(notes + note_starts[row], notes + note_ends[row], at)
        put_word(at, np.uint64(10))
        at += 1
    return at - begin
