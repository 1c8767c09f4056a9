"""TREC files read line by line with Python's own means: query → document → number."""

import math


def read(data: bytes, columns: int) -> tuple[dict[bytes, dict[bytes, float]], bytes]:
    """What a file of 4 columns (qrels) or of 6 or more (a run) says, and the sixth word of its first line.

    If the second words of qrels differ, they are topics: a document may stand once for each, and its largest number
    counts.
    """
    value, found, tag = {4: 3, 6: 4}[columns], {}, None
    topics, pairs, twice, several = set(), set(), False, False
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        if len(words) < columns or (columns == 4 and len(words) > 4):
            raise ValueError("columns")
        documents = found.setdefault(words[0], {})
        number = float(words[value].decode("utf-8", "surrogateescape"))
        if not math.isfinite(number):
            raise ValueError("finite")
        again = words[2] in documents
        twice |= again if columns == 6 else (tuple(words[:3]) in pairs)
        several |= again
        topics.add(words[1])
        pairs.add(tuple(words[:3]))
        documents[words[2]] = max(documents.get(words[2], -math.inf), number)
        tag = tag or words[columns - 1]
    if twice or (several and (columns == 6 or len(topics) == 1)):
        raise ValueError("twice")
    if tag is None:
        raise ValueError("no lines")
    return found, tag
