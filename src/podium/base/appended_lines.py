"""Files of lines that are appended as they come, so that a process that was killed goes on where it was."""

from __future__ import annotations

import os

from podium.base.errors import DataError


def is_continued(path: str | os.PathLike[str]) -> bool:
    """Whether a file of lines is there already, to go on with; raises a clear error if it is a pipe or a device."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise DataError("is no file, to which answers are appended. Name a file.", where=os.fspath(path))
    return os.path.exists(path)


def cut_partial_line(path: str | os.PathLike[str]) -> None:
    """Remove a last line without its end, which a process left that was killed while it appended lines."""
    if not os.path.exists(path):
        return
    with open(path, "rb+") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(end - 2**16, 0)
            file.seek(start)
            line_end = file.read(end - start).rfind(b"\n")
            if line_end >= 0:
                end = start + line_end + 1
                break
            end = start
        file.truncate(end)
