"""TREC files read line by line with Python's own means: query → document → number."""

import math


def read(data: bytes, columns: int) -> tuple[dict[bytes, dict[bytes, float]], bytes]:
    """What a file of 4 columns (qrels) or of 6 or more (a run) says, and the sixth word of its first line."""
    value, found, tag = {4: 3, 6: 4}[columns], {}, None
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        if len(words) < columns or (columns == 4 and len(words) > 4):
            raise ValueError("columns")
        documents = found.setdefault(words[0], {})
        if words[2] in documents:
            raise ValueError("twice")
        documents[words[2]] = float(words[value].decode("utf-8", "surrogateescape"))
        if not math.isfinite(documents[words[2]]):
            raise ValueError("finite")
        tag = tag or words[columns - 1]
    if tag is None:
        raise ValueError("no lines")
    return found, tag
