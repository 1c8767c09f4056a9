"""`podium select`: which features a method needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from podium.base.errors import counted
from podium.cli import console, options, progress
from podium.cli.training_files import read_training

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.evaluation.select_features import FeatureSelection, SelectionStep

HELD_OUT = 0.3
_NAMES = 3


def select(
    data: Annotated[str, typer.Argument(help="A file, a folder with train and vali files, or - for standard input.")],
    method: Annotated[
        str, typer.Option(help="A method or a specification, e.g. listnet or 'lambdamart(rounds=50)'.")
    ] = "listnet",
    by: Annotated[
        Literal["rfe", "gas", "lasso"],
        typer.Option(
            help="rfe: drop the least important features of the method's model, again and again; gas: features that "
            "rank well alone and unlike each other; lasso: features in the order in which an L1 penalty lets them in."
        ),
    ] = "rfe",
    valid: Annotated[
        str | None, typer.Option(help="Validation data.", show_default="30 % of the queries")
    ] = None,
    metric: Annotated[str, typer.Option("-m", "--metric", help="The metric on validation data.")] = "ndcg@10",
    preset: options.Preset = None,
    label: options.Label = None,
    qid: options.Qid = None,
    seed: options.Seed = 0,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="A file for the names of the kept features.", show_default=False),
    ] = None,
) -> None:
    """Select features: a method's metric on validation data with fewer and fewer features.

    The smallest number of features that is not proved worse than the best, by one standard error over queries, is kept.
    """
    from podium.data.splits import split
    from podium.evaluation.select_features import select_features
    from podium.metrics import Metric

    if output is not None:
        console.check_file(output, what="names of features")
    how = Metric.parse(metric, preset=preset)
    table, held = read_training(data, valid, {k: v for k, v in (("label", label), ("qid", qid)) if v is not None})
    training = table.grouped()
    if held is None:
        training, held = split(training, (1.0 - HELD_OUT, HELD_OUT), seed=seed)
    with progress.progress_bar(1) as bar, console.printed_warnings():
        selection = select_features(
            training, held.grouped(), method, by=by, metric=how, seed=seed, progress=bar.progress(method)
        )
    names = training.feature_names or tuple(str(l) for l in range(1, training.n_features + 1))
    _print(selection, names, method=method, training=training, valid=held.grouped())
    if output is not None:
        with console.writing_text(output) as file:
            file.write("".join(f"{names[l]}\n" for l in selection.chosen.features))
