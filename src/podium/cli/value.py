"""`podium value`: what a ranker would have earned, from a log of clicks on what others showed."""

from __future__ import annotations

import math
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import counted
from podium.cli import click_logs, console, options

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
        typer.Option(help="How likely each rank is to be looked at: the file that podium clicks propensity wrote."),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            help="The features of the documents that models rank; its query and document ids are those of the log.",
            show_default=False,
        ),
    ] = None,
    how: Annotated[
        Literal["ips", "snips", "dm", "dr"],
        typer.Option(
            help="ips weighs clicks by inverse propensities; snips normalises the weights; dm trusts guessed "
            "relevance; dr corrects the guess by weighted clicks."
        ),
    ] = "dr",
    discount: Annotated[
        str, typer.Option(help="What a place is worth: dcg@10 (or another cut), dcg, or examination: expected clicks.")
    ] = "dcg@10",
    relevance: Annotated[
        str,
        typer.Option(
            help="Who guesses relevance, for dm and dr: a click model, or features: logistic regression on the data."
        ),
    ] = "pbm(prior=0.1)",
    clip: Annotated[float, typer.Option(help="The smallest propensity that clicks are divided by.")] = 0.01,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Estimate what rankers would have earned, from clicks on what others showed.

    The value is DCG (or expected clicks) with P(click at rank 1) as gain, averaged over the pages of the log, whose own
    rankings are valued too. Differences are taken page by page: they are surer than two intervals side by side.
    """
    from podium.clicks.propensity_file import read_propensities
    from podium.counterfactual import cross_fitted
    from podium.counterfactual import value as estimated
    from podium.formats import read_data

    curve, clicks = read_propensities(propensities), click_logs.read_log(log, repeated=repeated)
    by_features = relevance == "features" and how in ("dm", "dr")
    _check(rankers, data, by_features=by_features)
    read = [_read(path, data) for path in rankers]
    runs = {name: run for name, (run, _) in zip(_names(rankers), read, strict=True)}
    guess: Any = relevance
    with console.printed_warnings():
        if by_features:
            documents = next((documents for _, documents in read if documents is not None), None)
            guess = cross_fitted(documents or read_data(data), clicks, propensities=curve, seed=seed)
        found = estimated(
            clicks, runs, propensities=curve, how=how, discount=discount, relevance=guess, clip=clip,
            confidence=confidence, seed=seed,
        )  # fmt: skip
    if as_json:
        console.print_json(asdict(found) | {"sentences": [one.sentence() for one in found.differences]})
    else:
        _print(found)


def _names(rankers: list[str]) -> list[str]:
    """The rankers by the names of their files, or by their paths where these are alike."""
    stems = [Path(path).stem for path in rankers]
    return stems if len(set(stems)) == len(stems) else list(rankers)


def _check(rankers: list[str], data: str | None, *, by_features: bool) -> None:
    """Raise a clear error if a ranker is given twice, or features are needed and not given."""
    from podium.base.errors import ParameterError

    if len(set(rankers)) < len(rankers):
        raise ParameterError("the same ranker is given twice.")
    models = [path for path in rankers if zipfile.is_zipfile(path)]
    if data is None and (models or by_features):
        what = f"{models[0]} is a model, which" if models else "--relevance features"
        raise ParameterError(
            f"{what} needs the features of the log's documents: give them, with query and document ids, as --data FILE."
        )


def _read(path: str, data: str | None) -> tuple[Run, Table | None]:
    """A ranker's scores of documents by their ids; for a model, with the data."""
    from podium.cli.documents import read_documents
    from podium.formats.trec.trec import Run, read_run
    from podium.model import Model

    if not zipfile.is_zipfile(path):
        return read_run(path), None
    assert data is not None, "checked before"
    model = Model.load(path)
    documents = read_documents(data, model, labels=False)
    return Run.from_scores(documents, model.score(documents)), documents


def _print(found: Values) -> None:
    from podium.counterfactual import LOGGED

    users = "" if found.users is None else f" of {counted(found.users, 'user')}"
    console.say(f"{found.pages:.0f} pages{users}, {found.clicks:.0f} clicks; {found.how}, {found.discount}")
    if found.left_out:
        console.say(f"{found.left_out:.0f} pages of queries that not every ranker ranks are left out")
    if found.ignored_clicks:
        console.say(f"{found.ignored_clicks:.0f} clicks at ranks without a propensity are ignored")
    console.say(_SURE[found.propensities])
    if found.how == "dm":
        console.say("dm: the intervals do not include errors of the guessed relevance")
    ends = min(one.low for one in found.values), max(one.high for one in found.values)
    rows = [
        [
            one.name,
            f"{one.value:.4f}",
            f"{one.low:.4f} to {one.high:.4f}",
            _bar(one.low, one.value, one.high, *ends),
            "–" if found.how == "dm" and one.name != LOGGED else f"{one.effective_clicks:.0f}",
            f"{100 * one.clipped:.1f} %",
            f"{100 * one.never_shown:.1f} %",
        ]
        for one in found.values
    ]
    interval = f"{100 * found.confidence:g} % interval"
    console.print_table(["", "value", interval, "", "effective clicks", "clipped", "never shown"], rows)
    console.out("")
    rows = [
        [f"{one.first} − {one.second}", f"{one.value:+.4f}", f"{one.low:+.4f} to {one.high:+.4f}", one.sentence()]
        for one in found.differences
    ]
    console.print_table(["difference", "value", interval, ""], rows)
    if max(one.never_shown for one in found.values) > _MOST:
        console.say("most of what a ranker puts first was never shown: are its ids those of the log?")


def _bar(low: float, value: float, high: float, least: float, most: float) -> str:
    """An interval as a line with a mark at the value, on a scale from `least` to `most`."""
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
