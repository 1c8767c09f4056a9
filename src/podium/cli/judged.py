"""Read judgments and runs for commands, and say which columns were taken for what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from podium.base.errors import counted
from podium.cli import console

if TYPE_CHECKING:
    from podium.formats.query_texts import QueryTexts
    from podium.formats.trec.trec import Qrels, Run
    from podium.text.collection.collection import Topic
    from podium.text.index.index import Index

Columns = Mapping[str, str | None]
"""Names of columns that options gave, by role."""


def holds_qrels(judged: str, ranked: str, columns: Columns) -> bool:
    """Whether a command's first file holds judgments for runs, rather than labelled data for scores."""
    from podium.formats.sniff import holds_qrels as holds

    return any(columns.values()) or holds(judged, ranked)


def read_judgments(path: str, columns: Columns, queries: QueryTexts | None = None) -> Qrels:
    """Read qrels; their queries become ids if there are texts of queries."""
    from podium.formats.trec.trec import read_qrels

    qrels = read_qrels(path, **columns)
    _say(qrels)
    if queries is None:
        return qrels
    from podium.formats.trec.query_names import with_query_ids

    qrels, notes = with_query_ids(qrels, queries)
    for note in notes:
        console.say(note)
    return qrels


def read_asked(queries: str, qrels: str | None, columns: Columns) -> tuple[list[Topic], Qrels | None, QueryTexts]:
    """Queries, their judgments if there are any, and their texts; a file of judgments alone may have all three."""
    from podium.formats.query_texts import QueryTexts
    from podium.text.collection.collection import read_queries
    from podium.text.collection.queries_of_judgments import holds_judgments, queries_of_judgments

    if qrels is None and holds_judgments(queries, columns):
        topics, qrels = queries_of_judgments(queries, columns), queries
    else:
        topics = read_queries(queries)
    texts = QueryTexts({topic.id: topic.text for topic in topics}, queries)
    return topics, None if qrels is None else read_judgments(qrels, columns, texts), texts


def say_absent(qrels: Qrels, index: Index) -> None:
    """Say how many of the judged documents an index does not have."""
    from podium.formats.feature_rows import grades_of

    judged = {id for grades in grades_of(qrels).values() for id in grades}
    absent = [id for id in judged if index.store.number(id) is None]
    if absent:
        console.say(
            f"{len(absent)} of {counted(len(judged), 'judged document')} not in {index.store.path}, e.g. "
            f"{min(absent)!r}. Do the ids of documents agree?"
        )


def read_judged(judged: str, ranked: list[str], columns: Columns, queries: str | None) -> tuple[Qrels, dict[str, Run]]:
    """Read qrels and runs; queries of both become ids if there is a file of queries that has their texts."""
    from podium.formats.trec.query_names import with_query_ids

    texts = None
    if queries is not None:
        from podium.formats.query_texts import QueryTexts

        texts = QueryTexts.read_if_any(queries)
    qrels, runs = read_judgments(judged, columns, texts), {}
    for name in ranked:
        run = read_ranked(name, columns)
        if texts is not None:
            run, notes = with_query_ids(run, texts)
            for note in notes:
                console.say(note)
        runs[name] = run
    return qrels, runs


def read_ranked(path: str, columns: Columns | None = None) -> Run:
    """Read a run."""
    from podium.formats.trec.trec import read_run

    run = read_run(path, **_of_run(path, columns or {}))
    _say(run)
    return run


def _of_run(path: str, columns: Columns) -> dict[str, str | None]:
    """The columns of query and document that options gave, if the run is a table that has them too."""
    asked = {role: columns.get(role) for role in ("query", "document")}
    if not any(asked.values()):
        return {}
    from podium.formats.sniff import is_json, is_rows
    from podium.formats.tables.records import read_records

    there = read_records(path).columns if path != "-" and is_rows(path) and not is_json(path) else {}
    return {role: name for role, name in asked.items() if name in there}


def say_metrics(names: list[str], preset: str | None) -> None:
    """Say how metrics are computed that are spelled as another tool spells them, which may compute them otherwise."""
    from podium.metrics import Metric
    from podium.metrics.other_tools import other_convention

    for name in names:
        hint = other_convention(name)
        if hint is not None and preset is None:
            console.say(f"{name} is {Metric.parse(name).tag()} here; {hint}")


def _say(judged: Qrels | Run) -> None:
    if judged.guessed is not None:
        console.say(f"{judged.source}: {judged.guessed}")
