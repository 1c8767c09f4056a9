"""`podium features --candidates`: documents that another engine showed, from a run or from its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from podium.base.errors import DataError, counted
from podium.cli import console

if TYPE_CHECKING:
    from podium.formats.query_texts import QueryTexts
    from podium.text.collection.collection import Topic


class Candidates:
    """Documents of queries with the scores that they were shown with, best first."""

    def __init__(self, scores: Mapping[str, Mapping[str, float]], source: str) -> None:
        self.scores, self.source = scores, source
        self.missed = 0
        """Documents that are not in the index."""

    @classmethod
    def read(cls, source: str, queries: QueryTexts) -> Candidates:
        """Read a run, or answers of a search engine; queries may be named by their texts."""
        from podium.formats.engines.logged_features import is_log, read_shown
        from podium.formats.sniff import sniff
        from podium.formats.trec.query_names import with_query_ids
        from podium.formats.trec.run_scores import ranked_scores
        from podium.formats.trec.trec import read_run

        if sniff(source) == "json" and is_log(source):
            return cls(ranked_scores(read_shown(source, queries=queries).run()), source)
        run, notes = with_query_ids(read_run(source), queries)
        for note in notes:
            console.say(note)
        return cls(ranked_scores(run), source)

    def searched(self, topics: Sequence[Topic]) -> list[Topic]:
        """The queries that have documents here; says how many have none."""
        there = [topic for topic in topics if self.scores.get(topic.id)]
        if not there:
            raise DataError(
                f"none of {counted(len(topics), 'query', 'queries')} has documents here. Do their ids agree?",
                where=self.source,
            )
        if len(there) < len(topics):
            absent = counted(len(topics) - len(there), "query", "queries")
            console.say(f"{absent} without documents in {self.source} left out")
        return there

    def add(self, query: str, ids: Sequence[str], depth: int) -> None:
        """Count the documents that the index does not have."""
        self.missed += len(self.scores[query].keys() - set(ids)) if len(ids) < depth else 0
