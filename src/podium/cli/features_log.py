"""`podium features LOG`: training data from features that a search engine logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from podium.base.errors import counted
from podium.cli import console
from podium.cli.judged import Columns, read_judgments

if TYPE_CHECKING:
    from podium.formats.engines.logged_features import FeatureLog


class LogOptions(NamedTuple):
    """How to read a log."""

    run: str | None = None
    missing: Literal["nan", "zero"] | None = None
    query_field: str | None = None
    id_field: str | None = None
    queries: str | None = None


def log_features(
    log: str, qrels: str | None, output: str, columns: Columns, how: LogOptions, *, keep_unjudged: bool
) -> None:
    """Write the features that a search engine logged, with grades, and its rankings if asked for."""
    from podium.formats.engines.logged_features import read_logged_features
    from podium.formats.feature_rows import grades_of, write_rows
    from podium.formats.query_texts import QueryTexts
    from podium.formats.trec.trec import write_run

    texts = None if how.queries is None else QueryTexts.read(how.queries)
    logged = read_logged_features(
        log, query_field=how.query_field, id_field=how.id_field, missing=how.missing, queries=texts
    )
    judged = None if qrels is None else grades_of(read_judgments(qrels, columns, texts))
    taken = logged.judged_queries(None if keep_unjudged else judged)
    seen = Recall(judged or {})
    for query in taken:
        seen.add(query, [document.id for document in logged.documents[query]])
    parts = (logged.rows(query, None if judged is None else judged.get(query, {})) for query in taken)
    written = write_rows(parts, output, names=logged.names, about=logged.about())
    say_written(output, len(taken), written, len(logged.names), len(logged.documents))
    _say_missing(logged)
    if judged is not None:
        console.say(seen.words())
    if how.run is not None:
        write_run(logged.run(), how.run)
        console.say(f"{how.run}: the rankings of {counted(len(logged.documents), 'query', 'queries')}, as shown")


def say_written(output: str, queries: int, documents: int, features: int, asked: int) -> None:
    """Say what was written, and how many queries were left out."""
    console.say(
        f"{output}: {counted(queries, 'query', 'queries')}, {counted(documents, 'document')}, "
        f"{counted(features, 'feature')}"
    )
    if queries < asked:
        left = counted(asked - queries, "query", "queries")
        console.say(f"{left} of {asked} without a judgment left out; --keep-unjudged keeps them, with label 0")


def _say_missing(logged: FeatureLog) -> None:
    share = logged.unlogged()
    if not share:
        return
    hint = " (for a linear model of an LTR plugin: --missing zero)" if logged.engine == "elasticsearch" else ""
    what = f"missing{hint}" if logged.missing == "nan" else "0"
    console.say(f"{share:.1%} of the values were not logged by {logged.engine}: they are {what}")


class Recall:
    """Recall of candidates: the share of relevant documents among them."""

    def __init__(self, judged: Mapping[str, Mapping[str, float]]) -> None:
        self.relevant = {query: {id for id, grade in grades.items() if grade > 0} for query, grades in judged.items()}
        self.shares: list[float] = []
        self.unjudged = 0

    def add(self, query: str, ids: Sequence[str]) -> None:
        """Count the candidates of a query."""
        relevant = self.relevant.get(query)
        if not relevant:
            self.unjudged += 1
            return
        self.shares.append(len(relevant.intersection(ids)) / len(relevant))

    def words(self) -> str:
        """The recall in words."""
        if not self.shares:
            return "no query has a relevant document: nothing can be learned. Do the ids of queries agree?"
        without = f"; {counted(self.unjudged, 'query', 'queries')} without any" if self.unjudged else ""
        mean = sum(self.shares) / len(self.shares)
        queries = counted(len(self.shares), "query", "queries")
        return f"candidates hold {mean:.1%} of the relevant documents, a mean over {queries}{without}"
