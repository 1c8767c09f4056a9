"""`podium aggregate`: many rankings in, one consensus out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.cli import console, options

if TYPE_CHECKING:
    from podium.aggregation import Aggregator, Consensus
    from podium.data.rankings import Rankings


def aggregate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="TREC runs, each a voter; or one PrefLib file; or one LETOR-agg file."),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="borda, mc1 … mc4, copeland, rrf, combsum, combmnz, kemeny or footrule; parameters as in rrf(k=10).",
        ),
    ] = "rrf",
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
    as_json: options.Json = False,
) -> None:
    """Make one ranking of many: metasearch, fusion of retrieval systems, votes.

    Without -o the consensus is printed as a TREC run, unless --explain or --json ask for something else.
    """
    from podium.aggregation import Aggregator
    from podium.data.rankings_files import read_rankings
    from podium.data.trec import write_run

    chosen = Aggregator.parse(method)
    if output not in (None, "-"):
        console.check_file(str(output), what="the consensus")
    rankings = read_rankings(files, missing=missing, top=top)
    consensus = chosen(rankings)
    if output is not None or not (explain or as_json):
        write_run(consensus.run(tag=str(chosen)), "-" if output is None else output)
    if as_json:
        console.print_json(_summary(chosen, rankings, consensus))
    elif explain:
        _explain(chosen, rankings, consensus)


def _summary(method: Aggregator, rankings: Rankings, consensus: Consensus) -> dict[str, Any]:
    from podium.aggregation import agreement

    taus = [None if tau != tau else tau for tau in agreement(rankings, consensus).tolist()]
    voters = zip(rankings.voters, rankings.weights.tolist(), taus, strict=True)
    found: dict[str, Any] = {
        "method": str(method),
        "queries": rankings.n_queries,
        "documents": rankings.n_documents,
        "voters": [{"voter": name, "weight": weight, "tau": tau} for name, weight, tau in voters],
    }
    if method.minimises:
        found["cost"] = consensus.costs.tolist()
        found["bound"] = consensus.bounds.tolist()
    return found


def _explain(method: Aggregator, rankings: Rankings, consensus: Consensus) -> None:
    found = _summary(method, rankings, consensus)
    rows = [
        [voter["voter"], f"{voter['weight']:.4g}", "–" if voter["tau"] is None else f"{voter['tau']:.4f}"]
        for voter in found["voters"]
    ]
    console.print_table(["voter", "weight", "tau"], rows)
    console.say(f"{method}: {found['queries']} queries, {found['documents']} documents")
    if method.minimises:
        proven = int((consensus.gaps == 0.0).sum())
        console.say(
            f"cost {consensus.costs.sum():.6g}, at least {consensus.bounds.sum():.6g}; "
            f"{proven} of {consensus.n_queries} queries proven optimal"
        )
