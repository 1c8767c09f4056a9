"""`podium select`: which features a method needs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from podium.base.errors import DataError, counted
from podium.cli import console, options, progress
from podium.cli.train_parts import HELD_OUT, read_parts

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.evaluation.select_features import FeatureSelection, SelectionStep

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
        str | None,
        typer.Option(
            help="Validation data: a file, or a fraction of the queries to hold out.", show_default=f"{HELD_OUT:g}"
        ),
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
    from podium.base.files import writing
    from podium.evaluation.select_features import select_features
    from podium.metrics import Metric

    if output is not None:
        console.check_file(output, what="names of features")
    how = Metric.parse(metric, preset=preset)
    roles = {key: column for key, column in (("label", label), ("qid", qid)) if column is not None}
    table, held, note = read_parts(data, valid, roles=roles, weighing=None, metric=how, seed=seed)
    if held is None:
        raise DataError(f"features are selected by validation data, and there is {note}.", where=data)
    training = table.grouped()
    with progress.progress_bar(1) as bar, console.printed_warnings():
        selection = select_features(
            training, held.grouped(), method, by=by, metric=how, seed=seed, progress=bar.progress(method)
        )
    names = training.feature_names or tuple(str(l) for l in range(1, training.n_features + 1))
    _print(selection, names, data=data, method=method, training=training, valid=held.grouped())
    if output is not None:
        with writing(output) as file:
            file.write("".join(f"{names[l]}\n" for l in selection.chosen.features).encode())
        console.out(f"features   {output}")


def _print(
    selection: FeatureSelection, names: tuple[str, ...], *, data: str, method: str, training: Dataset, valid: Dataset
) -> None:
    chosen = selection.chosen
    console.out(f"method     {method}, features by {selection.by}")
    console.out(
        f"data       {counted(training.n_queries, 'query', 'queries')} to learn from, {valid.n_queries} to validate"
    )
    rows = [
        (
            str(len(step.features)), f"{step.mean:.4f}", f"{step.error:.4f}",
            _dropped(step, names), "← kept" if step is chosen else "best" if step is selection.best else "",
        )
        for step in selection.path
    ]  # fmt: skip
    console.print_table(("features", selection.metric, "± s.e.", "then dropped", ""), rows)
    console.out(
        f"kept       {counted(len(chosen.features), 'feature')}, the fewest that are not proved worse than the best "
        f"({len(selection.best.features)}), by one standard error"
    )
    console.out("           the metric is optimistic, since it chose the features: evaluate on other data")
    console.out(f"train      podium train {shlex.quote(data)} --method {shlex.quote(_specified(method, chosen))}")


def _dropped(step: SelectionStep, names: tuple[str, ...]) -> str:
    """The features that the next step does without."""
    if len(step.dropped) == len(step.features):
        return "–"
    shown = ", ".join(names[l] for l in step.dropped[:_NAMES])
    return shown + (f" and {len(step.dropped) - _NAMES} more" if len(step.dropped) > _NAMES else "")


def _specified(method: str, step: SelectionStep) -> str:
    """The specification of the method with the kept features."""
    from podium.methods import method as named
    from podium.transforms import Keep

    keep = Keep(of=named(method).learner.transform, only=tuple(int(l) + 1 for l in step.features))
    name, _, rest = method.strip().partition("(")
    if "transform=" in rest:
        return repr(named(method).learner.changed({"transform": repr(keep)}))
    return f"{name}({rest[:-1] + ',' if rest else ''}transform={keep})"
