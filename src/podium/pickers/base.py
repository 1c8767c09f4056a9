"""Picker: the base class of what chooses documents for judges.

    >>> import numpy as np
    >>> from podium.data.dataset import Dataset
    >>> pool = Dataset.from_arrays(np.eye(4), group=[2, 2], document_ids=["a", "b", "c", "d"])
    >>> picks = Picker.parse("random").pick(None, pool, queries=2, documents=1)
    >>> len(picks.pool.document_ids), picks.chance.tolist()
    (2, [0.5, 0.5])

A picker says how much a judgment is worth, of each query and of each document. First queries are chosen, then documents
of each; documents that have a label are never chosen. What is chosen at random has a probability, its chance: means
over such judgments, weighted by 1/chance, are unbiased. What a model chose is no sample, and no test set.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.base.arguments import random_numbers, whole_number
from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError
from podium.base.registry import Named
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.judgments.pooling import Pool
from podium.model import Model


@dataclass(frozen=True, eq=False)
class Picks:
    """Documents to judge; `write_sheet(picks.pool, …, columns=picks.columns())` writes the sheet."""

    pool: Pool  # queries from the first chosen on, documents of each in random order
    picked_by: tuple[str, ...]  # (I,) what chose the query and the document
    chance: Array  # (I,) probability with which a row was chosen; 1: it had to be

    def columns(self) -> dict[str, list[str]]:
        """Columns of the sheet that say how each row was chosen."""
        return {"picked_by": list(self.picked_by), "chance": [f"{chance:.6g}" for chance in self.chance.tolist()]}


class Picker(Named):
    """Picker: how much a judgment of each query and each document is worth."""

    kind: ClassVar[str] = "picker"
    home: ClassVar[str] = "podium.pickers"
    needs_model: ClassVar[bool] = True
    """Whether it asks a model."""
    random_queries: ClassVar[float] = 0.0
    """Share of the queries that are chosen at random, not by their worth."""
    random_documents: ClassVar[float] = 0.0
    """Share of the documents of a chosen query that are chosen at random."""

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        """Worth of each query and of each document, at least 0; larger is judged sooner."""  # (Q,), (N,)
        raise NotImplementedError

    def shown_name(self) -> str:
        """What the sheet says of rows that were chosen by worth."""
        return repr(self)

    def pick(self, model: Model | None, pool: Table, *, queries: int, documents: int, seed: int = 0) -> Picks:
        """Choose documents without a label: at most `documents` of each of at most `queries` queries.

        The same seed gives the same choice, whatever the order of the rows.
        """
        queries, documents = (
            whole_number(count, name, least=1) for count, name in ((queries, "queries"), (documents, "documents"))
        )
        if model is None and self.needs_model:
            raise ParameterError(f"{self.name} needs a model. Train one, or use random, which needs none.")
        data, rng = pool.grouped(), random_numbers(seed)
        if data.document_ids is None:
            raise DataError("the data has no document ids, which a sheet needs.", where=data.source)
        of_queries, of_documents = self.worth(model, data, rng)
        rows = [sorted(rows, key=data.document_name) for rows in _open_rows(data)]
        _refuse_repeated(data, rows)
        open_queries = sorted((q for q in range(data.n_queries) if rows[q]), key=data.query_name)
        if not open_queries:
            raise DataError("every document has a label: there is nothing left to judge.", where=data.source)
        names, cuts, chosen, hows, chances = [], [0], list[str](), list[str](), list[float]()
        for q, how, chance in self._take(open_queries, of_queries, queries, share=self.random_queries, rng=rng):
            taken = list(self._take(rows[q], of_documents, documents, share=self.random_documents, rng=rng))
            names.append(data.query_name(q))
            cuts.append(cuts[-1] + len(taken))
            for k in rng.permutation(len(taken)).tolist():
                row, by, own = taken[k]
                chosen.append(data.document_name(row))
                hows.append(how if how == by else f"{how}+{by}")
                chances.append(chance * own)
        found = np.ones((len(chosen), 1), np.bool_)
        sheet = Pool(tuple(names), np.array(cuts, np.int64), tuple(chosen), (repr(self),), found, seed)
        return Picks(sheet, tuple(hows), np.array(chances))

    def _take(
        self, items: list[int], worth: Array, count: int, *, share: float, rng: np.random.Generator
    ) -> list[tuple[int, str, float]]:
        """At most `count` items, how each was chosen, and its chance: by worth, then this share of them at random."""
        count = min(count, len(items))
        at_random = math.ceil(share * count)
        best = np.argsort(-worth[items], kind="stable").tolist()
        first, rest = best[: count - at_random], best[count - at_random :]
        drawn = rng.permutation(len(rest))[:at_random].tolist()
        chance = at_random / len(rest) if rest else 1.0
        return [
            *((items[k], self.shown_name(), 1.0) for k in first),
            *((items[rest[k]], "random", chance) for k in drawn),
        ]


def means_of_queries(values: Array, pool: Dataset) -> Array:
    """Mean of each query's documents; 0 of a query without any."""  # (Q,)
    sums = np.bincount(pool.query_index, weights=values, minlength=pool.n_queries)
    return np.asarray(sums / np.maximum(pool.sizes, 1))


def member_gains(model: Model | None, pool: Dataset) -> Array:
    """Gain 2^y − 1 of each document by each member of a bagged model; that of its label, if it has one."""  # (B, N)
    assert model is not None, "checked before"
    grades = model.member_grades(pool)
    labels = np.full(pool.n_documents, np.nan) if pool.labels is None else pool.labels
    return np.asarray(np.exp2(np.where(np.isnan(labels), grades, labels)) - 1.0)


def _open_rows(data: Dataset) -> list[list[int]]:
    """Rows of each query that have no label."""
    left = np.ones(data.n_documents, np.bool_) if data.labels is None else np.isnan(data.labels)
    return [(a + np.flatnonzero(left[a:b])).tolist() for a, b in itertools.pairwise(data.offsets.tolist())]


def _refuse_repeated(data: Dataset, rows: list[list[int]]) -> None:
    for q, own in enumerate(rows):
        for row, after in itertools.pairwise(own):
            if data.document_name(row) == data.document_name(after):
                raise DataError(
                    f"query {data.query_name(q)} has document {data.document_name(row)!r} twice, without a label. "
                    "Keep one.",
                    where=data.source,
                )
