"""`podium aggregate`: rank fusion, many rankings in and one consensus out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import counted
from podium.cli import console, options
from podium.cli.judged import read_judgments

if TYPE_CHECKING:
    from podium.aggregation import Aggregator, Consensus, SupervisedAggregator
    from podium.aggregation.rankings.rankings import Rankings


def aggregate(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs (TREC, CSV, JSON …), each a voter; or one PrefLib file, LETOR-agg file, or table (.csv, "
            ".parquet) with columns query, voter, document and rank or score.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="borda, rrf, combsum, mc4, kemeny, plackett-luce …; with --train voter-weights or cranking; all of "
            "them and their parameters: podium methods. By default rrf, with --train voter-weights.",
            show_default=False,
        ),
    ] = None,
    tune: Annotated[
        str | None,
        typer.Option(
            "--tune",
            metavar="NAME=VALUES",
            help="With --train: choose a parameter of the method by ndcg@10 of the judged queries, e.g. k=1..100 or "
            "phi=0.5,0.8,0.9.",
            show_default=False,
        ),
    ] = None,
    judgments: Annotated[
        str | None,
        typer.Option(
            "--train",
            metavar="QRELS",
            help="Learn the weight of each voter from relevance judgments (TREC qrels, CSV, JSON …), or from a "
            "LETOR-agg file.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Write the consensus to this run.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print each voter's weight and its agreement (τ) with the consensus.")
    ] = False,
    missing: Annotated[
        Literal["refuse", "allow"], typer.Option(help="What to do with a run that lacks queries of another.")
    ] = "refuse",
    top: Annotated[
        Literal["largest", "smallest"], typer.Option(help="Which number of a LETOR-agg list is its top.")
    ] = "largest",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Aggregate many rankings into one: rank fusion, metasearch, votes.

    With --train, the weights of the voters are learned from judged queries, and used for all queries; with --tune too,
    a parameter of the method is chosen by them. Without -o the
    consensus is printed as a TREC run, or as --explain or --json say.
    """
    from podium.aggregation.rankings.rankings_files import read_rankings
    from podium.formats.trec.trec import write_run

    wanted = _named(method, train=judgments is not None, tune=tune)
    if output not in (None, "-"):
        console.check_file(str(output), what="the consensus")
    rankings = read_rankings(files, missing=missing, top=top)
    with console.printed_warnings():
        chosen, record = _trained(wanted, rankings, judgments, tune=tune, top=top, seed=seed)
        consensus = chosen(rankings)
    if output is not None or not (explain or as_json):
        write_run(consensus.run(tag=str(chosen)), "-" if output is None else output)
    if as_json:
        console.print_json(_summary(chosen, rankings, consensus, record))
    elif explain:
        _explain(chosen, rankings, consensus, record)
    elif tune is not None:
        _say_record(record)


def _named(method: str | None, *, train: bool, tune: str | None) -> Aggregator | SupervisedAggregator:
    """Aggregator of a name; supervised if there are judgments to learn from, unless they are for tuning."""
    from podium.aggregation import Aggregator, SupervisedAggregator
    from podium.base.errors import ParameterError, UnknownNameError
    from podium.base.registry import split_call

    if tune is not None and not train:
        raise ParameterError("--tune chooses a parameter on judged queries: add --train QRELS.")
    train = train and tune is None
    text = ("voter-weights" if train else "rrf") if method is None else method
    name, _ = split_call(text)
    plain, learning = Aggregator.catalogue(), SupervisedAggregator.catalogue()
    if name not in {*plain, *learning}:
        raise UnknownNameError("aggregator", name, {*plain, *learning}, see="podium methods")
    if name in learning and tune is not None:
        raise ParameterError(f"--tune is for methods that learn nothing else; {name} learns. Leave --tune out.")
    if name in learning and not train:
        raise ParameterError(f"{name} learns from judged queries: add --train QRELS, or use rrf, borda or combsum.")
    if name in plain and train:
        raise ParameterError(
            f"{name} learns nothing: leave --train out, tune a parameter by --tune, or use {' or '.join(learning)}."
        )
    return SupervisedAggregator.parse(text) if train else Aggregator.parse(text)


def _trained(
    method: Aggregator | SupervisedAggregator,
    rankings: Rankings,
    judgments: str | None,
    *,
    tune: str | None,
    top: Literal["largest", "smallest"],
    seed: int,
) -> tuple[Aggregator, dict[str, Any]]:
    """Fit a supervised aggregator, or tune another; with a record of that."""
    from podium.aggregation import Aggregator, with_labels
    from podium.aggregation.rankings.rankings_files import read_rankings
    from podium.aggregation.tuned import read_grid, tuned
    from podium.formats.sniff import sniff

    if judgments is None:
        assert isinstance(method, Aggregator), "checked by its name"
        return method, {}
    separate = sniff(judgments) not in ("qrels", "table", "json")
    judged = read_rankings([judgments], top=top) if separate else with_labels(rankings, read_judgments(judgments, {}))
    if isinstance(method, Aggregator):
        choice = tuned(method, judged, *read_grid(str(tune)), seed=seed)
        return choice.aggregator, choice.record
    trained = method.fit(judged, seed=seed)
    return trained, trained.record


def _summary(method: Aggregator, rankings: Rankings, consensus: Consensus, record: dict[str, Any]) -> dict[str, Any]:
    from podium.aggregation import Trained, agreement

    taus = [None if tau != tau else tau for tau in agreement(rankings, consensus).tolist()]
    weights = method.trust if isinstance(method, Trained) else rankings.weights
    voters = zip(rankings.voters, weights.tolist(), taus, strict=True)
    summary: dict[str, Any] = {
        "method": str(method),
        "queries": rankings.n_queries,
        "documents": rankings.n_documents,
        "voters": [{"voter": name, "weight": weight, "tau": tau} for name, weight, tau in voters],
    }
    if record:
        summary["trained"] = record
    if method.minimises:
        summary["cost"] = consensus.costs.tolist()
        summary["bound"] = consensus.bounds.tolist()
    return summary


def _say_record(record: dict[str, Any]) -> None:
    for what, value in record.items():
        console.say(f"trained: {what.replace('_', ' ')} {value if isinstance(value, str) else format(value, '.6g')}")


def _explain(method: Aggregator, rankings: Rankings, consensus: Consensus, record: dict[str, Any]) -> None:
    summary = _summary(method, rankings, consensus, record)
    rows = [
        [voter["voter"], f"{voter['weight']:.4g}", "–" if voter["tau"] is None else f"{voter['tau']:.4f}"]
        for voter in summary["voters"]
    ]
    console.print_table(["voter", "weight", "tau"], rows)
    sizes = counted(summary["queries"], "query", "queries"), counted(summary["documents"], "document")
    console.say(f"{method}: {', '.join(sizes)}")
    _say_record(record)
    if method.minimises:
        proven = int((consensus.gaps == 0.0).sum())
        console.say(
            f"cost {consensus.costs.sum():.6g}, at least {consensus.bounds.sum():.6g}; "
            f"{proven} of {consensus.n_queries} queries proven optimal"
        )
