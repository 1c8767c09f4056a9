"""`podium rank`: score and rank documents with a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli import clusters, console, options

if TYPE_CHECKING:
    from podium.base.arrays import Array
    from podium.data import Dataset
    from podium.distributions.rank_summary import RankSummary
    from podium.model import Model
    from podium.rerankers import Reranker


class Format(StrEnum):
    """Output formats of a ranking."""

    SCORES = "scores"
    TREC = "trec"
    JSONL = "jsonl"
    GRADES = "grades"


def rank(
    model: Annotated[str, typer.Argument(help="A model that podium train wrote.")],
    data: Annotated[str, typer.Argument(help="The documents to rank: a file, or - for standard input.")],
    output: Annotated[str, typer.Option("-o", "--output", help="The file to write; - is standard output.")] = "-",
    format: Annotated[
        Format | None,
        typer.Option(
            help="scores: one number per document, in the order of the data. trec: a TREC run. "
            "jsonl: a JSON object per document, best first in each query. grades: a predicted grade per document, in "
            "the order of the data, by prank, oc-svm and mcrank. Default: scores; with --odds, a table.",
            show_default=False,
        ),
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            help="With --format grades: labelled data, not of the training, from which thresholds between grades are "
            "learned, for methods that learn none, such as regression.",
            metavar="DATA",
            show_default=False,
        ),
    ] = None,
    odds: Annotated[
        bool,
        typer.Option(
            "--odds",
            help="Also give probabilities of ranks: of being first, the expected rank, and a 90 % interval.",
        ),
    ] = False,
    with_ties: options.WithTies = False,
    rerank: Annotated[
        str | None,
        typer.Option(
            help="Re-rank for diversity: mmr, or with the topics in DATA.topics xquad or pm2, e.g. 'xquad(trade=0.5)'. "
            "The scores are then n, n − 1, …, 1 in each query.",
            metavar="RERANKER",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(help="Only the best K documents of each query.", metavar="K", min=1, show_default=False),
    ] = None,
    qid: options.Qid = None,
    cluster: options.ClusterOption = None,
) -> None:
    """Score and rank documents with a model.

    Ranks are dense: documents with equal scores share a rank (1, 2, 2, 3). A TREC run numbers them 1, 2, 3, 4.
    """
    from podium.base.files import writing
    from podium.cli.documents import read_documents, say_if_seen
    from podium.model import Model

    _check(format, odds=odds, with_ties=with_ties, top=top, rerank=rerank, thresholds=thresholds)
    reranker = None if rerank is None else _reranker(rerank)
    if output != "-":
        console.check_file(output, what="a ranking")
    fitted = Model.load(model)
    if "base" in fitted.info:
        console.say(f"note: these scores are to be added to the base scores, {fitted.info['base']}.")
    documents = read_documents(data, fitted, labels=False, qid=qid)
    grouped = documents.grouped()
    if grouped.labels is not None and grouped.labels.any():
        say_if_seen(fitted, grouped)
    if format is Format.GRADES:
        from podium.cli.grades import grade_lines

        with writing(output) as file:
            file.writelines(line.encode() for line in grade_lines(fitted, documents, thresholds))
        return
    with clusters.opened(cluster) as workers:
        scores = fitted.score(grouped) if workers is None else workers.score(fitted, grouped)
    if reranker is not None:
        scores = reranker.scores(scores, grouped)
    summary = _odds(fitted, grouped, scores, with_ties=with_ties) if odds else None
    if format is Format.TREC:
        from podium.formats.trec.trec import Run, write_run

        write_run(Run.from_scores(grouped, scores), output, top=top)
        return
    if format is Format.JSONL:
        lines = _objects(grouped, scores, summary, top=top)
    elif summary is not None:
        lines = _table(grouped, scores, summary, top=top)
    else:
        lines = (f"{score!r}\n" for score in documents.from_grouped(scores).tolist())
    with writing(output) as file:
        file.writelines(line.encode() for line in lines)


def _reranker(name: str) -> Reranker:
    from podium.rerankers import Reranker

    return Reranker.parse(name)


def _check(
    format: Format | None, *, odds: bool, with_ties: bool, top: int | None, rerank: str | None, thresholds: str | None
) -> None:
    from podium.base.errors import ParameterError

    if thresholds is not None and format is not Format.GRADES:
        raise ParameterError("--thresholds says how scores become grades, so it needs --format grades.")
    if format is Format.GRADES and (odds or rerank is not None or top is not None):
        raise ParameterError("--format grades: one grade per document, without --odds, --rerank and --top.")

    if odds and rerank is not None:
        raise ParameterError("--rerank: odds are those of the model's own ranking. Leave out --odds or --rerank.")
    if with_ties and not odds:
        raise ParameterError("--with-ties says which odds, so it needs --odds.")
    if top is not None and not odds and format in (None, Format.SCORES):
        raise ParameterError("--top: a list of scores has one line per document. Use --format trec, jsonl, or --odds.")
    if odds and format in (Format.SCORES, Format.TREC):
        kind = "A list of scores" if format is Format.SCORES else "A TREC run"
        raise ParameterError(f"{kind} has no place for odds. Use --format jsonl, or no --format for a table.")


def _odds(model: Model, data: Dataset, scores: Array, *, with_ties: bool) -> RankSummary:
    distribution = model.distribution(data, with_ties=with_ties, scores=scores)
    console.say(f"odds: {distribution.how}.")
    return distribution.summary()


def _objects(data: Dataset, scores: Array, odds: RankSummary | None, *, top: int | None) -> Iterator[str]:
    """JSON lines, one per document, best first within each query; ties in the order of the data."""
    for q in range(data.n_queries):
        for rank, row in _best_first(data, scores, q, top=top):
            fields: dict[str, Any] = {
                "query": data.query_name(q),
                "document": data.document_name(row),
                "rank": rank,
                "score": float(scores[row]),
            }
            if odds is not None:
                fields["first"], fields["expected_rank"] = float(odds.first[row]), float(odds.expected[row])
                fields["interval"] = [int(odds.low[row]), int(odds.high[row])]
            yield json.dumps(fields, ensure_ascii=False) + "\n"


def _table(data: Dataset, scores: Array, odds: RankSummary, *, top: int | None) -> Iterator[str]:
    """A table per query, best first."""
    heads = ["rank", "document", "score", "first", "expected rank", "90 % interval"]
    for q in range(data.n_queries):
        rows = [heads]
        for rank, row in _best_first(data, scores, q, top=top):
            name, interval = data.document_name(row), f"{odds.low[row]}–{odds.high[row]}"
            numbers = [f"{scores[row]:.4f}", f"{odds.first[row]:.4f}", f"{odds.expected[row]:.1f}", interval]
            rows.append([str(rank), name, *numbers])
        widths = [max(len(row[c]) for row in rows) for c in range(len(heads))]
        yield f"{chr(10) if q else ''}query {data.query_name(q)}\n"
        for cells in rows:
            aligned = [t.ljust(w) if c == 1 else t.rjust(w) for c, (t, w) in enumerate(zip(cells, widths, strict=True))]
            yield "  ".join(aligned).rstrip() + "\n"


def _best_first(data: Dataset, scores: Array, q: int, *, top: int | None) -> Iterator[tuple[int, int]]:
    """Dense ranks and rows of a query's `top` documents, best first."""
    from podium.jit.sorting import dense_ranks, order

    first = int(data.offsets[q])
    query_scores = scores[first : data.offsets[q + 1]]
    ranks = dense_ranks(query_scores)
    for k in order(query_scores).tolist()[:top]:
        yield int(ranks[k]), first + k
