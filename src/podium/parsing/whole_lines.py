"""Read a file in blocks of whole lines into reused buffers, for compiled parsers."""

from __future__ import annotations

import gzip
import os
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

from podium.base.errors import DataError
from podium.base.files import Source
from podium.parsing.words import SPARE

CHUNK = 2**20  # hides the cost of the calls for each block, and stays in cache
LONGEST_LINE = 2**28
BOM = b"\xef\xbb\xbf"  # the byte order mark that some editors put before UTF-8


def whole_lines(stream: BinaryIO, name: str, *, size: int = 0, ring: int = 1) -> Iterator[tuple[bytearray, int]]:
    """Yield (buffer, end): whole lines in buffer[:end]; a missing last line end is added.

    `size` is the number of bytes of the stream, if known; a small file gets a small buffer. A buffer is reused after
    `ring` others.
    """
    wanted = min(size + 1, CHUNK) if size > 0 else CHUNK
    buffer = bytearray(wanted + SPARE)  # room for a missing line end, and for looking ahead
    others: deque[bytearray] = deque()
    filled, began = 0, False
    while got := stream.readinto(memoryview(buffer)[filled:-SPARE]):  # type: ignore[attr-defined]
        end = buffer.rfind(b"\n", filled, filled + got) + 1
        filled += got
        if not began and buffer.startswith(BOM):
            buffer[: len(BOM)] = b" " * len(BOM)
        began = True
        if end:
            yield buffer, end
            others.append(buffer)
            after = others.popleft() if len(others) == ring else bytearray(CHUNK + SPARE)
            if len(after) < filled - end + 2 * SPARE:
                after = bytearray(len(buffer))
            after[: filled - end] = buffer[end:filled]
            buffer, filled = after, filled - end
        elif filled == len(buffer) - SPARE:
            if filled >= LONGEST_LINE:
                raise DataError(f"a line of more than {LONGEST_LINE} bytes; this is no text file.", where=name)
            buffer = buffer + bytearray(len(buffer))
    if filled:
        buffer[filled : filled + 1] = b"\n"
        yield buffer, filled + 1


def measured(blocks: Iterator[tuple[bytearray, int]], size: int) -> tuple[Iterator[tuple[bytearray, int]], int]:
    """The same blocks, and the bytes in all of them; CHUNK or more if `size` is 0, not known, and there are several.

    The blocks must have a `ring` of at least 2.
    """
    if size > 0:
        return blocks, size
    ahead = list(islice(blocks, 2))
    return chain(ahead, blocks), ahead[0][1] if len(ahead) == 1 else CHUNK * len(ahead)


def known_size(source: Source, stream: object) -> int:
    """Size of a file in bytes; 0 if it is not known or the file is gzipped."""
    plain = isinstance(source, str | os.PathLike) and source != "-" and not isinstance(stream, gzip.GzipFile)
    return os.stat(source).st_size if plain else 0  # type: ignore[arg-type]
