"""`podium select`: which features a method needs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from podium.base.errors import DataError, ParameterError, counted
from podium.cli import console, options, progress
from podium.cli.train_parts import HELD_OUT, read_parts

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.evaluation.select_features import FeatureSelection, SelectionStep
    from podium.metrics import Metric

_NAMES = 3


def select(
    data: Annotated[str, typer.Argument(help="A file, a folder with train and vali files, or - for standard input.")],
    method: Annotated[
        str, typer.Option(help="A method or a specification, e.g. listnet or 'lambdamart(rounds=50)'.")
    ] = "listnet",
    by: Annotated[
        Literal["gain", "shap", "drop", "gas", "lasso"],
        typer.Option(
            help="gain, shap, drop: drop the least important features of the method's model, again and again, as "
            "podium importance measures them; gas: features that rank well alone and unlike each other; lasso: "
            "features in the order in which an L1 penalty lets them in."
        ),
    ] = "gain",
    keep: Annotated[
        int | None,
        typer.Option(
            help="How many features to keep.", min=1, show_default="the fewest that are not proved worse than the best"
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="In how many steps.", min=1, show_default="a tenth of the features each")
    ] = None,
    ablate: Annotated[
        str | None,
        typer.Option(
            help="Instead, leave out one group of features at a time: a TOML file of lines such as text = [1, 2], "
            "with numbers or names of features.",
            show_default=False,
        ),
    ] = None,
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

    The smallest number of features that is not proved worse than the best, by one standard error over queries, is kept,
    or --keep of them. With --ablate, groups of features are left out in turn and the loss is tested.
    """
    from podium.base.files import writing
    from podium.evaluation.select_features import select_features
    from podium.explanation.ablation import read_groups
    from podium.metrics import Metric

    if output is not None:
        console.check_file(output, what="names of features")
    if ablate is not None and (output, keep, steps) != (None, None, None):
        raise ParameterError(
            "--ablate compares groups of features, and selects none: leave out -o, --keep and --steps."
        )
    groups = None if ablate is None else read_groups(ablate)
    how = Metric.parse(metric, preset=preset)
    roles = {key: column for key, column in (("label", label), ("qid", qid)) if column is not None}
    table, held, note = read_parts(data, valid, roles=roles, weighing=None, metric=how, seed=seed)
    if held is None:
        raise DataError(f"features are selected by validation data, and there is {note}.", where=data)
    training = table.grouped()
    if groups is not None:
        _ablate(training, held.grouped(), method, groups, metric=how, seed=seed)
        return
    with progress.progress_bar(1) as bar, console.printed_warnings():
        selection = select_features(
            training, held.grouped(), method, by=by, keep=keep, steps=steps, metric=how, seed=seed,
            progress=bar.progress(method),
        )  # fmt: skip
    names = training.feature_names or tuple(str(l) for l in range(1, training.n_features + 1))
    _print(selection, names, data=data, method=method, training=training, valid=held.grouped())
    if output is not None:
        with writing(output) as file:
            file.write("".join(f"{names[l]}\n" for l in selection.chosen.features).encode())
        console.out(f"features   {output}")


def _ablate(
    training: Dataset, valid: Dataset, method: str, groups: dict[str, tuple[str, ...]], *, metric: Metric, seed: int
) -> None:
    """Print what the method loses without each group."""
    from podium.evaluation.significance import p_text
    from podium.explanation.ablation import ablate

    with progress.progress_bar(1) as bar, console.printed_warnings():
        tested = ablate(training, valid, method, groups=groups, metric=metric, seed=seed, progress=bar.progress(method))
    queries = counted(training.n_queries, "query", "queries")
    console.out(f"method     {method}, {queries} to learn from, {valid.n_queries} to validate")
    rows = []
    for name, system in tested.systems.items():
        pair = tested.pair_with_baseline(name)
        lost = (
            (f"{pair.difference:+.4f}", *(f"{end:+.4f}" for end in pair.interval), p_text(pair.adjusted))
            if pair
            else ()
        )
        rows.append((name, f"{system.mean:.4f}", *(lost or ("",) * 4)))
    console.print_table(("features", str(metric), "difference", "from", "to", ""), rows)
    console.out(f"tests      {tested.how}; from, to: 95 % interval of the difference")


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
    why = f"the fewest that are not proved worse than the best ({len(selection.best.features)}), by one standard error"
    if selection.keep is not None:
        why = "as many as asked for"
    console.out(f"kept       {counted(len(chosen.features), 'feature')}, {why}")
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
