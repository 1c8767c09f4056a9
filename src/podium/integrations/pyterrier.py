"""Parts of PyTerrier's pipelines, which run without Java: search, re-ranking of texts, and learning on features."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.errors import DataError, MissingPackageError
from podium.data.dataset import Dataset
from podium.engine import TextRanker
from podium.model import Model
from podium.text.index.index import Index
from podium.training import train

try:
    import pandas as pd
    import pyterrier as pt
except ImportError:
    raise MissingPackageError("pyterrier", "podium.integrations.pyterrier", "adapters") from None


class Retriever(pt.Transformer):  # type: ignore[misc]
    """Search in an index: from queries to documents, by any retrieval such as "bm25(k1=0.9)"."""

    def __init__(self, index: Index, by: str = "bm25", k: int = 1000) -> None:
        self.index, self.by, self.k = index, by, k

    def transform(self, topics: Any) -> Any:
        rows = []
        for topic in topics.to_dict("records"):
            hits = self.index.search(topic["query"], self.k, by=self.by)
            rows += [
                {**topic, "docno": id, "score": score} for id, score in zip(hits.ids, hits.scores.tolist(), strict=True)
            ]
        columns = list(dict.fromkeys([*topics.columns, "docno", "score"]))
        return pt.model.add_ranks(pd.DataFrame(rows, columns=columns))


class TextReranker(pt.Transformer):  # type: ignore[misc]
    """Re-ranking of texts: a frame with `query`, `text` and other fields of the index gets a model's scores."""

    def __init__(self, ranker: TextRanker) -> None:
        self.ranker = ranker

    def transform(self, documents: Any) -> Any:
        scores = np.zeros(len(documents))
        for rows in documents.groupby("qid", sort=False).indices.values():
            part = documents.iloc[rows]
            texts = [self.ranker.record(row["text"], row) for row in part.to_dict("records")]
            for text in self.ranker.rank(part["query"].iloc[0], texts):
                scores[rows[text.position]] = text.score
        return pt.model.add_ranks(documents.assign(score=scores))


class Estimator(pt.Estimator):  # type: ignore[misc]
    """Learning on the column `features`, as PyTerrier's feature union `**` makes it, by any method of podium."""

    def __init__(self, method: str = "lambdamart", model: Model | None = None) -> None:
        self.method, self.model = method, model

    def fit(self, train_documents: Any, qrels: Any, valid_documents: Any = None, valid_qrels: Any = None) -> Estimator:
        valid = None if valid_documents is None else _dataset(valid_documents, valid_qrels)
        self.model = train(_dataset(train_documents, qrels), self.method, valid=valid)
        return self

    def transform(self, documents: Any) -> Any:
        if self.model is None:
            raise DataError("Estimator: nothing is learned yet. Call fit first.")
        if not len(documents):
            return pt.model.add_ranks(documents.assign(score=np.empty(0)))
        qid = documents["qid"].to_numpy(object)
        return pt.model.add_ranks(documents.assign(score=self.model.score(_features(documents), qid=qid)))


def _dataset(documents: Any, qrels: Any) -> Dataset:
    """Training data: a document without a judgment has label 0."""
    labels = documents[["qid", "docno"]].merge(qrels[["qid", "docno", "label"]], on=["qid", "docno"], how="left")
    grades = labels["label"].fillna(0).clip(lower=0).to_numpy(np.float64)
    names = documents["docno"].astype(str).tolist()
    X, qid = _features(documents), documents["qid"].to_numpy(object)
    return Dataset.from_arrays(X, grades, qid=qid, document_ids=names).grouped()


def _features(documents: Any) -> Any:
    return np.stack(documents["features"].to_list()).astype(np.float32)
