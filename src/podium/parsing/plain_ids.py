"""Plain ids: the kernels of `podium.parsing.ids` for few ids, as Python on lists of bytes.

>>> number_words([b"x", b"y", b"x"])
([0, 1, 0], [0, 1])
"""

from __future__ import annotations

from itertools import pairwise


def number_words(words: list[bytes]) -> tuple[list[int], list[int]]:
    """Number the words by first appearance; also the index where each number appears first."""
    numbers: dict[bytes, int] = {}
    codes, firsts = list[int](), list[int]()
    for row, word in enumerate(words):
        code = numbers.setdefault(word, len(numbers))
        codes.append(code)
        if code == len(firsts):
            firsts.append(row)
    return codes, firsts


def repeated_words(words: list[bytes], offsets: list[int]) -> list[int]:
    """Rows whose word is also in an earlier row of their query; rows offsets[q]:offsets[q+1] are query q."""
    rows = list[int]()
    for a, b in pairwise(offsets):
        if len(set(words[a:b])) < b - a:
            seen: set[bytes] = set()
            for row in range(a, b):
                if words[row] in seen:
                    rows.append(row)
                seen.add(words[row])
    return rows


def find_words(words: list[bytes], offsets: list[int], others: list[bytes], other_offsets: list[int]) -> list[int]:
    """The row of `others` with the same word in the same query; −1 if there is none."""
    rows = list[int]()
    for (a, b), (c, d) in zip(pairwise(offsets), pairwise(other_offsets), strict=True):
        places = dict(zip(others[c:d], range(c, d), strict=True))
        rows += [places.get(word, -1) for word in words[a:b]]
    return rows


def rank_words(words: list[bytes]) -> list[int]:
    """Dense rank of each word in the order of bytes, from 0; equal words share it."""
    ranks = {word: rank for rank, word in enumerate(sorted(set(words)))}
    return [ranks[word] for word in words]
