"""`podium features`: training data from an index or from a log of a search engine, queries and judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from podium.base.errors import ParameterError, counted
from podium.base.progress import tracked
from podium.cli import console, options, progress
from podium.cli.features_candidates import Candidates
from podium.cli.features_clicks import with_clicks
from podium.cli.features_log import LogOptions, Recall, log_features, say_written
from podium.cli.features_runs import run_features
from podium.cli.judged import Columns, read_asked, say_absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podium.clicks.behaviour import BehaviourFeature
    from podium.text.features import Feature
    from podium.text.index.index import Index
    from podium.text.retrieval.candidates import Rows


def features(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INDEX|LOG|RUN",
            help="An index that podium index made, answers of a search engine with features, or a run.",
        ),
    ],
    queries: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERIES]",
            help="For an index: queries, JSON lines with id and text, TSV, TREC topics …; or judgments, CSV or JSON, "
            "that name queries by text. A log has none.",
            show_default=False,
        ),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Argument(help="Judgments: TREC qrels, CSV, JSON …; without them, labels are 0.", show_default=False),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="A .parquet file, or LETOR text.")] = "train.txt",
    set: Annotated[
        str | None,
        typer.Option(
            "--set",
            help="Features and sets of features, separated by commas: podium, letor4, letor3-ohsumed, mslr-text, "
            "elasticsearch, solr, 'bm25(field=title,k1=0.9)' …; with --clicks also behaviour features.",
            show_default="podium",
        ),
    ] = None,
    clicks: Annotated[
        str | None,
        typer.Option(
            metavar="LOG",
            help="With an index: a click log for behaviour features, such as --set 'podium,rate(days=7)'. It counts "
            "up to the time of each query (a column time of the queries), or to the end of the log.",
            show_default=False,
        ),
    ] = None,
    depth: Annotated[int, typer.Option(help="Candidates per query.", min=1)] = 100,
    by: Annotated[
        str | None,
        typer.Option(
            help="The first stage, which gives the candidates.",
            show_default="bm25, with the parameters that are best on the judged queries if there are 10 or more",
        ),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="RUN|LOG",
            help="Take these documents of each query in place of the first stage's: a run, or answers of an engine.",
            show_default=False,
        ),
    ] = None,
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    grade: options.GradeColumn = None,
    add_relevant: Annotated[
        bool, typer.Option("--add-relevant", help="Also take judged documents that the first stage missed.")
    ] = False,
    keep_unjudged: Annotated[
        bool, typer.Option("--keep-unjudged", help="Keep queries without a judgment; all their labels are 0.")
    ] = False,
    run: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Of a log, also write the rankings as they were shown.", show_default=False),
    ] = None,
    missing: Annotated[
        Literal["nan", "zero"] | None,
        typer.Option(
            help="Of a log, what a value is that was not logged.",
            show_default="as the engine takes it: nan; Solr, zero",
        ),
    ] = None,
    query_field: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Of a log, where the id of an answer's query is, e.g. responseHeader.params.qid.",
            show_default="query_id, qid or query",
        ),
    ] = None,
    id_field: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Of a log, the field of a document that holds its id.",
            show_default="_id, id, or what is after :: in Vespa's",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="With a run: another, whose scores are a feature too; may be repeated."),
    ] = None,
    texts: Annotated[
        str | None,
        typer.Option(
            "--queries",
            metavar="FILE",
            help="Of a log, queries with id and text, if the log or the judgments name queries by text.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compute features of the candidates of each query, or read those that a search engine logged, for training.

    With an index: podium features INDEX QUERIES QRELS; or podium features INDEX JUDGMENTS, a table that names queries
    by text. A model that is trained on them keeps their definitions, and podium search --model computes the same ones.

    With runs of several first stages: podium features lexical.run QRELS --also vector.run, to learn their weights.

    With a log: podium features LOG QRELS. LOG has answers of Elasticsearch, OpenSearch, Solr or Vespa, as podium ask
    writes them, with features that the engine logged.

    Queries without a judgment are left out; documents of the others without a judgment have label 0.
    """
    from podium.formats.sniff import sniff

    if output != "-":
        console.check_file(output, what="training data")
    columns = {"query": query, "document": document, "grade": grade}
    log = LogOptions(run, missing, query_field, id_field, texts)
    kind = "runs" if also else sniff(source)
    of_index = (qrels, set, candidates, clicks)
    if kind in ("json", "runs", "run") and any(option is not None for option in of_index):
        word = "log of answers" if kind == "json" else "run"
        raise ParameterError(
            f"{source} is a {word}, which has its queries and features: podium features {source} QRELS."
        )
    if kind == "json":
        log_features(source, queries, output, columns, log, keep_unjudged=keep_unjudged)
        return
    if log != LogOptions():
        raise ParameterError(
            f"--run, --missing, --query-field, --id-field and --queries are of logs; {source} is not a log."
        )
    if kind in ("runs", "run"):
        run_features([source, *(also or ())], queries, output, columns, keep_unjudged=keep_unjudged)
        return
    if queries is None:
        raise ParameterError("an index needs queries: podium features INDEX QUERIES QRELS, or a table of judgments.")
    index_features(
        source, queries, qrels, output, set, clicks, depth, by, candidates, columns, add_relevant, keep_unjudged
    )


def index_features(
    index: str,
    queries: str,
    qrels: str | None,
    output: str,
    set: str | None,
    clicks: str | None,
    depth: int,
    by: str | None,
    candidates: str | None,
    columns: Columns,
    add_relevant: bool,
    keep_unjudged: bool,
) -> None:
    """Write the features of the candidates of queries."""
    from podium.evaluation.search.tuned_stage import tuned_stage
    from podium.formats.feature_rows import check_ids, grades_of
    from podium.text.index.index import Index
    from podium.text.retrieval import Retrieval
    from podium.text.retrieval.candidates import asked_features, info, judged_queries, rows_of, write_features
    from podium.text.retrieval.first_stage import settings

    with console.printed_warnings():
        opened, start = Index.open(index), Retrieval.parse(by or "bm25")
    how, (topics, judged, texts) = start, read_asked(queries, qrels, columns)
    asked, behaviour = with_clicks(set, clicks, opened, topics)
    asked_features(asked, how, opened)  # raises an error before work starts
    shown = None if candidates is None else Candidates.read(candidates, texts)
    taken = list(judged_queries(topics, None if keep_unjudged else judged))
    taken = taken if shown is None else shown.searched(taken)
    names = [] if judged is None else map(str, judged.document_ids.tolist())
    there = (name for name in names if " " not in name or opened.store.number(name) is not None)
    check_ids(output, (topic.id for topic in taken), there)
    if by is None and judged is not None and shown is None:
        with progress.progress_bar(1) as bar:
            how = tuned_stage(opened, taken, judged, by=start, depth=depth, progress=bar.progress())
    wanted = asked_features(asked, how, opened)
    seen = Recall({} if judged is None else grades_of(judged))

    def watched(rows: Rows) -> Rows:
        seen.add(rows.topic.id, rows.ids)
        if shown is not None:
            shown.add(rows.topic.id, rows.ids, depth)
        return rows

    with progress.progress_bar(1) as bar, console.printed_warnings():
        tracked_topics = tracked(taken, bar.progress(queries))
        documents = None if shown is None else shown.scores
        rows = map(watched, rows_of(opened, tracked_topics, judged, wanted, depth, how, add_relevant, documents))
        parts = rows if behaviour is None else behaviour.added(rows)
        every: list[Feature | BehaviourFeature] = [*wanted, *([] if behaviour is None else behaviour.features)]
        about = info(opened, how, depth, wanted, behaviour)
        written = write_features(parts, output, features=every, about=about)
    say_written(output, len(taken), written, len(every), len(topics))
    if how != start:
        best_of = f"the best of {len(settings(start))} settings on these queries"
        console.say(f"first stage {how}, {best_of}; --by {start} leaves it as it is")
    _say_stored(wanted, opened)
    if shown is not None and shown.missed:
        console.say(f"{counted(shown.missed, 'candidate')} of {candidates} not in the index, and left out")
    if judged is not None:
        console.say(seen.words())
        say_absent(judged, opened)
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
