"""`podium search`: search an index by BM25, or re-rank its results by a model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import ParameterError, counted
from podium.base.progress import tracked
from podium.cli import console, options, progress

if TYPE_CHECKING:
    from podium.engine import Answer, Engine
    from podium.text.expansion.expansion import Expansion
    from podium.text.index.index import Index
    from podium.text.query import Query
    from podium.text.retrieval.base import Where


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
            "vectors, hybrid, rm3 or cut. Default: bm25, or that of the model.",
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
    syntax: Annotated[
        bool,
        typer.Option(
            "--syntax",
            help='Read signs in the query: "heat transfer" +must -not title:word prefix* fuzzi~1 (a OR b) word^2 '
            "year>=1990.",
        ),
    ] = False,
    like: Annotated[
        str | None,
        typer.Option(help="The id of a document: find documents like it, in place of a query.", show_default=False),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            help="A stored field by which results are ordered, in place of the score; -price is the highest first.",
            show_default=False,
        ),
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(
            help="A stored field whose most frequent values among all results are counted; repeat it.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[str | None, typer.Option(help="A file of queries, in place of one.", show_default=False)] = None,
    run: Annotated[
        str | None,
        typer.Option(help="With --queries: the TREC run to write; - is standard output.", show_default=False),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="With --model: the contribution of each feature to the score of each document. With --by rm3, bo1 or "
            "kl: the words of the expanded query.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Search an index, for one query or for a file of them."""
    from podium.text.index.index import Index

    _check(query if like is None else like, queries, run, model=model, by=by, explain=explain)
    _check_results(query, queries, offset=offset, like=like, sort=sort, facet=facet, model=model)
    with console.printed_warnings():
        opened = Index.open(index)
        engine = None if model is None else _engine(opened, model, depth)
    if queries is not None:
        _run(opened, engine, queries, str(run), k=k or 1000, by=by, where=where, syntax=syntax)
    else:
        asked, allowed = _asked(opened, query, like, _filter(opened, where), syntax=syntax)
        page = {"k": k or 10, "offset": offset, "where": allowed}
        found = _one(opened, engine, asked, page, by=by, sort=sort, facets=facet or [], explain=explain, as_json=json)
        if not found:
            _say_nothing(opened, offset, where or [])
    opened.close()


def _check(
    query: str | None, queries: str | None, run: str | None, *, model: str | None, by: str | None, explain: bool
) -> None:
    if (query is None) == (queries is None):
        raise ParameterError("give a query, --like ID, or --queries FILE --run FILE.")
    if (queries is None) != (run is None):
        raise ParameterError("--queries and --run go together: a file of queries, and the run to write.")
    if explain and model is None and _expansion(by) is None:
        raise ParameterError("--explain takes a model or an expanded query apart: it needs --model, or --by rm3.")
    if model is not None and by is not None:
        raise ParameterError("--by: a model has the first stage that it was trained with. Leave one of them out.")


def _check_results(
    query: str | None, queries: str | None, *, offset: int, like: str | None, sort: str | None, facet: list[str] | None,
    model: str | None,
) -> None:  # fmt: skip
    if queries is not None and (offset or sort or facet):
        raise ParameterError("--offset, --sort and --facet are for one query: a run begins at rank 1, by scores.")
    if query is not None and like is not None:
        raise ParameterError("--like: a document takes the place of a query. Leave one of them out.")
    if sort is not None and model is not None:
        raise ParameterError("--sort: results have the order of a field or of a model. Leave one of them out.")


def _asked(
    index: Index, query: str | None, like: str | None, where: Where | None, *, syntax: bool
) -> tuple[Query, Where | None]:
    """The query, and the filter of its results."""
    if like is None:
        return index.query(str(query), syntax=syntax), where
    from podium.text.suggestions import more_like, other_than

    return more_like(index, like), other_than(index, like, where)


def _expansion(by: str | None) -> Expansion | None:
    from podium.text.expansion.expansion import Expansion
    from podium.text.retrieval import Retrieval

    how = None if by is None else Retrieval.parse(by)
    return how if isinstance(how, Expansion) else None


def _engine(index: Index, model: str, depth: int | None) -> Engine:
    from podium.engine import Engine

    return Engine(index, model, depth=depth)


def _filter(index: Index, where: list[str] | None) -> Any:
    if not where:
        return None
    from podium.text.retrieval.filters import make_filter

    return make_filter(index, where)


def _one(
    index: Index, engine: Engine | None, asked: Query, page: Any, *, by: str | None, sort: str | None,
    facets: list[str], explain: bool, as_json: bool,
) -> bool:  # fmt: skip
    """Search and print; returns whether anything was found."""
    from podium.text.result_fields import all_results, facet, sorted_hits
    from podium.text.snippets import snippet

    how, rows = by or "bm25", []
    answer: Any = (
        engine.search(asked, explain=explain, **page) if engine is not None
        else index.search(asked, by=how, **page) if sort is None
        else sorted_hits(index, asked, sort=sort, by=how, **page)
    )  # fmt: skip
    for id, score in zip(answer.ids, answer.scores.tolist(), strict=True):
        document = index.document(id)
        rows.append((id, score, document, snippet(index, asked, document)))
    counts = {}
    if facets:
        first = how if engine is None else engine.retrieval
        numbers = all_results(index, asked, by=first, where=page["where"]).numbers
        counts = {field: facet(index, numbers, field) for field in facets}
    if as_json:
        objects = [_object(place, row, answer, engine, explain=explain) for place, row in enumerate(rows)]
        results = [{"rank": page["offset"] + place + 1, **fields} for place, fields in enumerate(objects)]
        pairs = {field: [{"value": v, "documents": n} for v, n in values] for field, values in counts.items()}
        console.print_json({"results": results, "facets": pairs} if facets else results)
        return bool(rows)
    _print(index, engine, asked, answer, rows, offset=page["offset"])
    for field, values in counts.items():
        console.out(f"{field}: " + ", ".join(f"{value} ({n})" for value, n in values))
    expansion = _expansion(by) if explain else None
    if expansion is not None:
        from podium.text.expansion.expansion import word_weights

        words = word_weights(index, expansion.expanded(index, asked, asked.allowing(page["where"])))
        console.out("searched for: " + ", ".join(f"{word} {weight:.3f}" for word, weight in words.items()))
    if engine is not None and explain:
        console.say(answer.how or "this model cannot be taken apart by feature.")
    return bool(rows)


def _say_nothing(index: Index, offset: int, where: list[str]) -> None:
    """Say that there are no results, and what may be the reason."""
    from podium.text.retrieval.filters import absent_values

    console.say(f"nothing found after the first {counted(offset, 'document')}." if offset else "nothing found.")
    for text in absent_values(index, where):
        console.say(f"--where: no document has {text}; several values are written FIELD in A,B.")


def _print(index: Index, engine: Engine | None, asked: Query, answer: Any, rows: list[Any], *, offset: int) -> None:
    """Print documents, the words that none has, and what may be meant by them."""
    from podium.text.snippets import mark
    from podium.text.suggestions import did_you_mean

    if asked.unknown:
        console.say(f"not in any document: {', '.join(asked.unknown)}")
        meant = did_you_mean(index, asked)
        if meant is not None:
            console.say(f"did you mean: {meant}")
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


def _run(
    index: Index, engine: Engine | None, queries: str, target: str, *, k: int, by: str | None, where: Any, syntax: bool
) -> None:
    from podium.formats.trec.trec import Run, write_run
    from podium.text.collection.collection import read_queries

    if target != "-":
        console.check_file(target, what="a run")
    topics, allowed = read_queries(queries), _filter(index, where)
    run: dict[str, dict[str, float]] = {}
    with progress.progress_bar(1) as bar:
        for topic in tracked(topics, bar.progress(queries)):
            asked: Any = {"vector": topic.vector, "where": allowed, "syntax": syntax}
            answer: Any = (
                index.search(topic.text, k, by=by or "bm25", **asked)
                if engine is None
                else engine.search(topic.text, k, **asked)
            )
            run[topic.id] = dict(zip(answer.ids, answer.scores.tolist(), strict=True))
    nothing = [id for id, scores in run.items() if not scores]
    if nothing:
        console.say(f"nothing found for {len(nothing)} of {len(topics)} queries, e.g. {nothing[0]}.")
    write_run(Run.from_dict({id: scores for id, scores in run.items() if scores}), target)
