"""Compact letter display: systems that share a letter do not differ significantly.

>>> compact_letters(["a", "b", "c"], {("a", "c")})
{'a': 'a', 'b': 'ab', 'c': 'b'}
"""

from __future__ import annotations

from collections.abc import Sequence


def compact_letters(names: Sequence[str], apart: set[tuple[str, str]]) -> dict[str, str]:
    """Compact letter display for names, best first: two names share a letter unless they are `apart`.

    Insert and absorb: start with one letter for all; each pair apart splits every letter that has both; letters
    whose names are all within another's are dropped.
    """
    columns = [frozenset(names)]
    for pair in sorted(apart):
        split = [column - {name} for column in columns if {*pair} <= column for name in pair]
        whole = [column for column in columns if not {*pair} <= column]
        columns = []
        for column in sorted({*whole, *split}, key=len, reverse=True):
            if not any(column <= kept for kept in columns):
                columns.append(column)
    place = {name: k for k, name in enumerate(names)}
    columns.sort(key=lambda column: sorted(place[name] for name in column))
    return {name: "".join(_letter(k) for k, column in enumerate(columns) if name in column) for name in names}


def _letter(k: int) -> str:
    """a…z, then a1…z1, a2…"""
    return "abcdefghijklmnopqrstuvwxyz"[k % 26] + (str(k // 26) if k >= 26 else "")
