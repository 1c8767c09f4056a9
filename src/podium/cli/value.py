"""`podium value`: off-policy (counterfactual) evaluation of rankers from a click log."""

from __future__ import annotations

import math
import zipfile
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import counted
from podium.cli import click_logs, console, options
from podium.cli.interleave import run_names

if TYPE_CHECKING:
    from podium.counterfactual import Values
    from podium.data.table import Table
    from podium.formats import Run


def value(
    rankers: Annotated[
        list[str],
        typer.Argument(
            metavar="RANKER...", help="Models that podium train wrote (with --data), or TREC runs; one or more."
        ),
    ],
    log: click_logs.Log,
    propensities: Annotated[
        str,
        typer.Option(help="Examination probabilities of ranks: the file that podium clicks propensity wrote."),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            help="The features of the documents that models rank; its query and document ids are those of the log.",
            show_default=False,
        ),
    ] = None,
    how: Annotated[
        Literal["ips", "snips", "dm", "dr", "sndr", "switch", "dros", "sub-gaussian", "rips", "sips"],
        typer.Option(
            help="ips: inverse propensity scoring; snips: self-normalised; dm: the direct method, by estimated "
            "relevance; dr: doubly robust, both; sndr: self-normalised dr; switch, dros, sub-gaussian: dr with shrunk "
            "weights; rips, sips: clicks on pages that begin as the ranker's list, or are all of it."
        ),
    ] = "dr",
    discount: Annotated[
        str, typer.Option(help="The discount of a rank: dcg@10 (or another cut), dcg, or examination: expected clicks.")
    ] = "dcg@10",
    relevance: Annotated[
        str,
        typer.Option(
            help="Relevance model for dm and dr: a click model, or features: logistic regression on the data."
        ),
    ] = "pbm(prior=0.1)",
    clip: Annotated[float, typer.Option(help="The smallest propensity; smaller ones are clipped.")] = 0.01,
    shrinkage: Annotated[
        float | None,
        typer.Option(help="λ of switch, dros and sub-gaussian.", show_default="the one with the least error"),
    ] = None,
    confidence: Annotated[float, typer.Option(help="The confidence level of the intervals.")] = 0.95,
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Estimate the value of rankers by off-policy (counterfactual) evaluation, from clicks on other rankings.

    The value is DCG (or expected clicks) with P(click at rank 1) as gain, averaged over the pages of the log, whose own
    rankings are valued too. Differences are paired by page, and so are surer than two intervals compared.
    """
    from podium.clicks.propensity_file import read_propensities
    from podium.counterfactual import value as estimated
    from podium.counterfactual.page_values import BY_RELEVANCE

    curve, clicks = read_propensities(propensities), click_logs.read_log(log, repeated=repeated, queries=queries)
    by_features = relevance == "features" and how in BY_RELEVANCE
    _check(rankers, data, by_features=by_features)
    read = [_read(path, data) for path in rankers]
    runs = {name: run for name, (run, _) in zip(run_names(rankers), read, strict=True)}
    guess: Any = relevance
    with console.printed_warnings():
        if by_features:
            from podium.counterfactual import cross_fitted
            from podium.formats import read_data

            documents = next((documents for _, documents in read if documents is not None), None)
            guess = cross_fitted(documents or read_data(data), clicks, propensities=curve, seed=seed)
        estimates = estimated(
            clicks, runs, propensities=curve, how=how, discount=discount, relevance=guess, clip=clip,
            shrinkage=shrinkage, confidence=confidence, seed=seed,
        )  # fmt: skip
    if as_json:
        console.print_json(
            asdict(estimates) | {"sentences": [difference.sentence() for difference in estimates.differences]}
        )
    else:
        _print(estimates)


def _check(rankers: list[str], data: str | None, *, by_features: bool) -> None:
    """Raise a clear error if a ranker is given twice, or features are needed and not given."""
    from podium.base.errors import ParameterError

    models = [path for path in rankers if zipfile.is_zipfile(path)]
    if data is None and (models or by_features):
        what = f"{models[0]} is a model, which" if models else "--relevance features"
        raise ParameterError(
            f"{what} needs the features of the log's documents: give them, with query and document ids, as --data FILE."
        )


def _read(path: str, data: str | None) -> tuple[Run, Table | None]:
    """Read a ranker's scores of documents by their ids; for a model, with the data."""
    from podium.formats.trec.trec import Run, read_run

    if not zipfile.is_zipfile(path):
        return read_run(path), None
    from podium.cli.documents import read_documents
    from podium.model import Model

    assert data is not None, "checked before"
    model = Model.load(path)
    documents = read_documents(data, model, labels=False)
    return Run.from_scores(documents, model.score(documents)), documents


def _print(estimates: Values) -> None:
    from podium.counterfactual import LOGGED

    users = "" if estimates.users is None else f" of {counted(estimates.users, 'user')}"
    console.say(
        f"{estimates.pages:.0f} pages{users}, {estimates.clicks:.0f} clicks; {estimates.how}, {estimates.discount}"
    )
    if estimates.left_out:
        console.say(f"{estimates.left_out:.0f} pages of queries that not every ranker ranks are left out")
    if estimates.ignored_clicks:
        console.say(f"{estimates.ignored_clicks:.0f} clicks at ranks without a propensity are ignored")
    console.say(_SURE[estimates.propensities])
    for ranker in estimates.values:
        if ranker.shrinkage is not None:
            console.say(
                f"{ranker.name}: weights are shrunk with λ = {ranker.shrinkage:g}; the interval holds their bias"
            )
    if estimates.how == "dm":
        console.say("dm: the intervals do not include errors of the guessed relevance")
    ends = min(ranker.low for ranker in estimates.values), max(ranker.high for ranker in estimates.values)
    rows = [
        [
            ranker.name,
            f"{ranker.value:.4f}",
            f"{ranker.low:.4f} to {ranker.high:.4f}",
            _bar(ranker.low, ranker.value, ranker.high, *ends),
            "–" if estimates.how == "dm" and ranker.name != LOGGED else f"{ranker.effective_clicks:.0f}",
            f"{100 * ranker.clipped:.1f} %",
            f"{100 * ranker.never_shown:.1f} %",
        ]
        for ranker in estimates.values
    ]
    interval = f"{100 * estimates.confidence:g} % interval"
    console.print_table(["", "value", interval, "", "effective clicks", "clipped", "never shown"], rows)
    console.out("")
    rows = [
        [f"{gap.first} − {gap.second}", f"{gap.value:+.4f}", f"{gap.low:+.4f} to {gap.high:+.4f}", gap.sentence()]
        for gap in estimates.differences
    ]
    console.print_table(["difference", "value", interval, ""], rows)
    if max(ranker.never_shown for ranker in estimates.values) > _MOST:
        console.say("most of the documents that a ranker puts first were never shown: are its ids those of the log?")


def _bar(low: float, value: float, high: float, least: float, most: float) -> str:
    """Line of an interval with a mark at the value, on a scale from `least` to `most`."""
    if not most - least < math.inf or most <= least:
        return ""
    at = [round((_CELLS - 1) * (x - least) / (most - least)) for x in (low, value, high)]
    cells = [" "] * _CELLS
    cells[at[0] : at[2] + 1] = ["─"] * (at[2] + 1 - at[0])
    cells[at[1]] = "●"
    return "".join(cells)


_SURE = {
    "known": "propensities are taken as known: the intervals do not hold their errors",
    "this log": "the intervals hold the errors of the propensities, which are from this log",
    "another log": "the intervals hold the errors of the propensities, which are from another log",
}
_CELLS = 31
_MOST = 0.5
