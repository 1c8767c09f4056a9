"""`podium search`: search an index by BM25, or re-rank its results by a model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import ParameterError
from podium.base.progress import tracked
from podium.cli import console, options, progress

if TYPE_CHECKING:
    from podium.engine import Answer, Engine
    from podium.text.index.index import Index


def search(
    index: Annotated[str, typer.Argument(help="An index that podium index made.")],
    query: Annotated[str | None, typer.Argument(help="The words to search for.", show_default=False)] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", "--top", help="The number of documents: 10, or 1000 in a run.", min=1, show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="The first stage, e.g. 'bm25(k1=0.9,b=0.4)', 'bm25(fields=title^2)', 'ql(mu=1000)', sdm, "
            "vectors or hybrid. Default: bm25, or that of the model.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="A model that re-ranks the best documents of the first stage.", show_default=False),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            help="With --model: the number of candidates to re-rank; by default that of its training data.",
            min=1,
            show_default=False,
        ),
    ] = None,
    offset: Annotated[
        int,
        typer.Option(help="The number of best documents to leave out: -k 10 --offset 10 is the second page.", min=0),
    ] = 0,
    where: Annotated[
        list[str] | None,
        typer.Option(help="A filter on a stored field, e.g. 'year>=1990'; repeat it.", show_default=False),
    ] = None,
    queries: Annotated[str | None, typer.Option(help="A file of queries, in place of one.", show_default=False)] = None,
    run: Annotated[
        str | None,
        typer.Option(help="With --queries: the TREC run to write; - is standard output.", show_default=False),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="With --model: the contribution of each feature to the score of each document."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Search an index, for one query or for a file of them."""
    from podium.text.index.index import Index

    _check(query, queries, run, model=model, by=by, explain=explain, offset=offset)
    with console.printed_warnings():
        opened = Index.open(index)
        engine = None if model is None else _engine(opened, model, depth)
    if queries is not None:
        _run(opened, engine, queries, str(run), k=k or 1000, by=by, where=where)
    else:
        _one(opened, engine, str(query), k=k or 10, offset=offset, by=by, where=where, explain=explain, as_json=json)
    opened.close()


def _check(
    query: str | None, queries: str | None, run: str | None, *, model: str | None, by: str | None, explain: bool,
    offset: int,
) -> None:  # fmt: skip
    if (query is None) == (queries is None):
        raise ParameterError("give a query, or --queries FILE --run FILE.")
    if (queries is None) != (run is None):
        raise ParameterError("--queries and --run go together: a file of queries, and the run to write.")
    if queries is not None and offset:
        raise ParameterError("--offset is for one query: a run begins at rank 1.")
    if explain and model is None:
        raise ParameterError("--explain takes a model apart, so it needs --model.")
    if model is not None and by is not None:
        raise ParameterError("--by: a model has the first stage that it was trained with. Leave one of them out.")


def _engine(index: Index, model: str, depth: int | None) -> Engine:
    from podium.engine import Engine

    return Engine(index, model, depth=depth)


def _filter(index: Index, where: list[str] | None) -> Any:
    if not where:
        return None
    from podium.text.retrieval.filters import make_filter

    return make_filter(index, where)


def _one(
    index: Index, engine: Engine | None, query: str, *, k: int, offset: int, by: str | None, where: Any, explain: bool,
    as_json: bool,
) -> None:  # fmt: skip
    from podium.text.snippets import mark, snippet

    page: Any = {"k": k, "offset": offset, "where": _filter(index, where)}
    answer: Any = (
        index.search(query, by=by or "bm25", **page)
        if engine is None
        else engine.search(query, explain=explain, **page)
    )
    asked, rows = index.query(query), []
    for id, score in zip(answer.ids, answer.scores.tolist(), strict=True):
        document = index.document(id)
        rows.append((id, score, document, snippet(index, asked, document)))
    if as_json:
        objects = [_object(place, row, answer, engine, explain=explain) for place, row in enumerate(rows)]
        console.print_json([{"rank": offset + place + 1, **fields} for place, fields in enumerate(objects)])
        return
    if asked.unknown:
        console.say(f"not in any document: {', '.join(asked.unknown)}")
    if not rows:
        console.say("nothing found.")
    before, after = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("*", "*")
    for place, (id, score, document, text) in enumerate(rows):
        title = " ".join(str(document.get(index.title) or "").split())
        moved = f"  (first stage: {answer.first_stage[place]})" if engine is not None else ""
        shown = mark(index, asked, title[:100]).marked(before, after)
        console.out(f"{offset + place + 1:>3}. {shown or id}  [{id}]  {score:.4f}{moved}")
        if text.text and text.text != title:
            console.out(f"     {text.marked(before, after)}")
        if engine is not None and answer.shares is not None:
            _shares(engine, answer, place)
    if engine is not None and explain:
        console.say(answer.how or "this model cannot be taken apart by feature.")


def _shares(engine: Engine, answer: Answer, row: int) -> None:
    """Print the features that matter most for a document."""
    import numpy as np

    assert answer.shares is not None
    best = [l for l in np.argsort(-np.abs(answer.shares[row]), kind="stable")[:5] if answer.shares[row][l] != 0]
    for l in best:
        console.out(f"       {answer.shares[row][l]:+.4f}  {engine.features[l]!r} = {answer.features[row][l]:.4g}")


def _object(place: int, row: Any, answer: Any, engine: Engine | None, *, explain: bool) -> dict[str, Any]:
    id, score, document, text = row
    fields = {"id": id, "score": score, "document": document}
    fields["snippet"] = {"text": text.text, "marks": [list(mark) for mark in text.marks]}
    if engine is not None:
        fields["first_stage"] = int(answer.first_stage[place])
    if engine is not None and explain:
        names = [repr(feature) for feature in engine.features]
        values = [None if value != value else value for value in answer.features[place].tolist()]
        fields["features"] = dict(zip(names, values, strict=True))
        if answer.shares is not None:
            fields["shares"] = dict(zip(names, answer.shares[place].tolist(), strict=True))
    return fields


def _run(index: Index, engine: Engine | None, queries: str, target: str, *, k: int, by: str | None, where: Any) -> None:
    from podium.formats.trec.trec import Run, write_run
    from podium.text.collection.collection import read_queries

    if target != "-":
        console.check_file(target, what="a run")
    topics, allowed = read_queries(queries), _filter(index, where)
    run: dict[str, dict[str, float]] = {}
    with progress.progress_bar(1) as bar:
        for topic in tracked(topics, bar.progress(queries)):
            answer: Any = (
                index.search(topic.text, k, by=by or "bm25", where=allowed)
                if engine is None
                else engine.search(topic.text, k, vector=topic.vector, where=allowed)
            )
            run[topic.id] = dict(zip(answer.ids, answer.scores.tolist(), strict=True))
    nothing = [id for id, scores in run.items() if not scores]
    if nothing:
        console.say(f"nothing found for {len(nothing)} of {len(topics)} queries, e.g. {nothing[0]}.")
    write_run(Run.from_dict({id: scores for id, scores in run.items() if scores}), target)
