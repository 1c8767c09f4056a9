"""Links: a directed graph as a sparse matrix over the names of its nodes.

>>> links = make_links([("a", "b"), ("a", "b"), ("b", "b"), ("b", "c")])
>>> links.names, links.weights.toarray().tolist()
(['a', 'b', 'c'], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name

Edge = tuple[Hashable, Hashable] | tuple[Hashable, Hashable, float]


@dataclass(frozen=True, eq=False)
class Links:
    """A directed graph with weighted links."""

    names: list[Any]  # (N,)
    weights: Any  # (N, N) CSR, float64: weights[i, j] of the link from i to j

    def __len__(self) -> int:
        return len(self.names)


def make_links(edges: Iterable[Edge], nodes: Iterable[Hashable] | None = None) -> Links:
    """Build a graph from edges (source, target) or (source, target, weight).

    Duplicate pairs count once; weights of duplicates are added. Self-links are dropped. `nodes` are the nodes of the
    graph, in order, and links from or to others are ignored; by default, all nodes of the edges.
    """
    from scipy import sparse

    place: dict[Any, int] = {} if nodes is None else {name: k for k, name in enumerate(dict.fromkeys(nodes))}
    sources, targets, weights, columns = list[int](), list[int](), list[float](), 0
    for edge in edges:
        if len(edge) != columns or columns == 3 or isinstance(edge, str):
            columns = _check(edge, columns)
        if nodes is None:
            a, b = (place.setdefault(name, len(place)) for name in edge[:2])
        else:
            a, b = place.get(edge[0], -1), place.get(edge[1], -1)
        if a != b and a >= 0 and b >= 0:
            sources.append(a)
            targets.append(b)
            if len(edge) == 3:
                weights.append(float(edge[2]))
    rows_and_columns = (np.array(sources, np.int64), np.array(targets, np.int64))
    values = np.array(weights) if columns == 3 else np.ones(len(sources))
    matrix = sparse.csr_array((values, rows_and_columns), shape=(len(place), len(place)))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if columns != 3:
        matrix.data[:] = 1.0
    return Links(list(place), matrix)


def as_links(edges: Iterable[Edge] | Links) -> Links:
    return edges if isinstance(edges, Links) else make_links(edges)


def by_name(links: Links, scores: Array) -> dict[Any, float]:
    return dict(zip(links.names, scores.tolist(), strict=True))


def read_links(source: Source) -> Iterator[tuple[str, str] | tuple[str, str, float]]:
    """Read edges from a file of lines `source target` or `source target weight`, separated by tabs or spaces.

    Blank lines and lines that begin with # are skipped.
    """
    for words, where in lines_of_words(source):
        if len(words) == 2:
            yield words[0], words[1]
        elif len(words) == 3:
            yield words[0], words[1], _weight(words[2], where)
        else:
            raise DataError(f"expected: source target [weight]; got {len(words)} columns.", where=where)


def lines_of_words(source: Source) -> Iterator[tuple[list[str], str]]:
    """The words of each line of a file, and its place. In lines with tabs, words may contain spaces."""
    name = source_name(source)
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            whole = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
            line = whole.decode("utf-8", "surrogateescape").strip("\r\n")
            if line.strip() and not line.startswith("#"):
                yield [word.strip() for word in line.split("\t")] if "\t" in line else line.split(), f"{name}:{number}"


def _check(edge: Any, columns: int) -> int:
    """Raise a clear error for an invalid edge; returns its number of columns."""
    if isinstance(edge, str) or len(edge) not in (2, 3) or columns not in (0, len(edge)):
        kind = {2: "(source, target)", 3: "(source, target, weight)"}
        expected = kind[columns] if columns else " or ".join(kind.values())
        raise DataError(f"an edge must be {expected}, as those before it; got {edge!r}.")
    if len(edge) == 3 and not (edge[2] >= 0.0 and math.isfinite(edge[2])):
        raise DataError(f"the weight of a link must be a finite number of at least 0; got {edge!r}.")
    return len(edge)


def _weight(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (value >= 0.0 and math.isfinite(value)):
        raise DataError(f"the weight of a link must be a number of at least 0; got {word!r}.", where=where)
    return value
