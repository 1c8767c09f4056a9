"""`podium features`: training data from an index, queries and judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import counted
from podium.base.progress import tracked
from podium.cli import console, options, progress
from podium.cli.judged import read_judgments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podium.text.features import Feature
    from podium.text.index.index import Index
    from podium.text.retrieval.candidates import Rows


def features(
    index: Annotated[str, typer.Argument(help="An index that podium index made.")],
    queries: Annotated[str, typer.Argument(help="Queries: JSON lines with id and text, TSV, TREC topics …")],
    qrels: Annotated[
        str | None,
        typer.Argument(help="Judgments: TREC qrels, CSV, JSON …; without them, labels are 0.", show_default=False),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="A .parquet file, or LETOR text.")] = "train.txt",
    set: Annotated[
        str,
        typer.Option(
            "--set",
            help="Features and sets of features, separated by commas: podium, letor4, letor3-ohsumed, mslr-text, "
            "'bm25(field=title,k1=0.9)' …",
        ),
    ] = "podium",
    depth: Annotated[int, typer.Option(help="Candidates per query.", min=1)] = 100,
    by: Annotated[str, typer.Option(help="The first stage, which gives the candidates.")] = "bm25",
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    grade: options.GradeColumn = None,
    add_relevant: Annotated[
        bool, typer.Option("--add-relevant", help="Also take judged documents that the first stage missed.")
    ] = False,
    keep_unjudged: Annotated[
        bool, typer.Option("--keep-unjudged", help="Keep queries without a judgment; all their labels are 0.")
    ] = False,
) -> None:
    """Compute features of the candidates of each query, for training.

    Queries without a judgment are left out; documents of the others without a judgment have label 0.

    A model that is trained on them keeps their definitions, and podium search --model computes the same ones.
    """
    from podium.formats.query_texts import QueryTexts
    from podium.text.collection.collection import read_queries
    from podium.text.features import read_features
    from podium.text.index.index import Index
    from podium.text.retrieval import Retrieval
    from podium.text.retrieval.candidates import grades_of, info, judged_queries, rows_of, write_features

    if output != "-":
        console.check_file(output, what="training data")
    with console.printed_warnings():
        opened, how = Index.open(index), Retrieval.parse(by)
    wanted, topics = read_features(set, opened), read_queries(queries)
    judged = None
    if qrels is not None:
        texts = QueryTexts({topic.id: topic.text for topic in topics}, queries)
        judged = read_judgments(qrels, {"query": query, "document": document, "grade": grade}, texts)
    taken = list(judged_queries(topics, None if keep_unjudged else judged))
    seen = _Recall({} if judged is None else grades_of(judged))

    def watched(rows: Rows) -> Rows:
        seen.add(rows)
        return rows

    with progress.progress_bar(1) as bar, console.printed_warnings():
        tracked_topics = tracked(taken, bar.progress(queries))
        rows = rows_of(opened, tracked_topics, judged, wanted, depth, how, add_relevant)
        written = write_features(map(watched, rows), output, features=wanted, about=info(opened, how, depth))
    console.say(
        f"{output}: {counted(len(taken), 'query', 'queries')}, {counted(written, 'document')}, "
        f"{counted(len(wanted), 'feature')}"
    )
    if len(taken) < len(topics):
        left = counted(len(topics) - len(taken), "query", "queries")
        console.say(f"{left} of {len(topics)} without a judgment left out; --keep-unjudged keeps them, with label 0")
    _say_stored(wanted, opened)
    if judged is not None:
        console.say(seen.words())
    opened.close()


def _say_stored(features: Sequence[Feature], index: Index) -> None:
    """Say which stored fields are among the features, and which numbers are not."""
    from podium.text.features.document_level import Stored
    from podium.text.index.stored_kinds import stored_numbers

    used = [feature.field for feature in features if isinstance(feature, Stored)]
    numbers = stored_numbers(index)
    unused = [f"{name} (not asked for)" for name in numbers.fields if name not in used]
    unused += [f"{name} ({why})" for name, why in numbers.left_out.items() if name not in used]
    if used or unused:
        words = f"; not {', '.join(unused)}" if unused else ""
        console.say(f"stored fields among the features: {', '.join(used) or 'none'}{words}")


class _Recall:
    """Recall of the candidates: the share of relevant documents among them."""

    def __init__(self, judged: dict[str, dict[str, float]]) -> None:
        self.relevant = {query: {id for id, grade in grades.items() if grade > 0} for query, grades in judged.items()}
        self.shares: list[float] = []
        self.unjudged = 0

    def add(self, rows: Rows) -> None:
        relevant = self.relevant.get(rows.topic.id)
        if not relevant:
            self.unjudged += 1
            return
        self.shares.append(len(relevant.intersection(rows.ids)) / len(relevant))

    def words(self) -> str:
        if not self.shares:
            return "no query has a relevant document: nothing can be learned. Do the ids of queries agree?"
        without = f"; {counted(self.unjudged, 'query', 'queries')} without any" if self.unjudged else ""
        mean = sum(self.shares) / len(self.shares)
        return f"candidates hold {mean:.1%} of the relevant documents, a mean over {len(self.shares)} queries{without}"
