"""`podium train`: train a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import counted
from podium.cli import click_logs, clusters, console, options, progress
from podium.cli.train_base import with_base
from podium.cli.train_clicks import By, read_weighing, weigh

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.model import Model


def train(
    data: Annotated[str, typer.Argument(help="A file, a folder with train and vali files, or - for standard input.")],
    method: Annotated[
        str, typer.Option(help="A method or a specification, e.g. listnet or 'listnet(penalty=0.1)'.")
    ] = "lambdamart",
    valid: Annotated[
        str | None, typer.Option(help="Validation data, for tuning and early stopping.", show_default=False)
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--metric",
            help="The metric on validation data.",
            show_default="ndcg@10; weighted-dcg@10 if it has clicks only",
        ),
    ] = None,
    clicks: Annotated[
        str | None,
        typer.Option(metavar="LOG", help="Learn from a click log of the data's queries.", show_default=False),
    ] = None,
    propensities: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|none",
            help="Examination probabilities of ranks, from podium clicks propensity -o; none: uncorrected clicks.",
            show_default=False,
        ),
    ] = None,
    queries: click_logs.QueriesOption = None,
    clip: Annotated[
        float, typer.Option(help="With --clicks: the smallest propensity; smaller ones are clipped.")
    ] = 0.01,
    propensities_as: Annotated[
        By,
        typer.Option(
            help="With --clicks: weights divide clicks by propensities (IPS); offsets add their logarithms to the "
            "scores while learning, which has less noise, for softmax, ranknet, lambdarank, pmop-fd and "
            "'lambdamart(damped=false)'."
        ),
    ] = "weights",
    base: Annotated[
        str | None,
        typer.Option(
            metavar="SCORES|MODEL",
            help="Scores of another ranker, a number per line, or its model: learn what to add to them.",
            show_default=False,
        ),
    ] = None,
    preset: options.Preset = None,
    label: options.Label = None,
    qid: options.Qid = None,
    seed: options.Seed = 0,
    search: options.Search = "grid",
    cluster: options.ClusterOption = None,
    output: Annotated[str, typer.Option("-o", "--output", help="The model file to write.")] = "model.podium",
) -> None:
    """Train a model; `podium methods` lists the methods.

    With validation data, the method's hyperparameters are tuned on it.

    With --clicks, the model learns from clicks instead of the data's grades (unbiased learning to rank): a click counts
    one over the propensity of its rank, or, with --propensities-as offsets, compared with the clicks expected at it.
    """
    from podium.base.errors import ParameterError
    from podium.methods import method as named
    from podium.metrics import Metric
    from podium.training import TrainingProgress
    from podium.training import train as fit
    from podium.tuning import Tuning

    if output == "-":
        raise ParameterError("-o -: a model is not text for standard output. Give it a file name.")
    console.check_file(output, what="a model")
    chosen, searching = named(method), Tuning.parse(search)
    measure = Metric.parse(metric or "ndcg@10", preset=preset)
    weighing = read_weighing(clicks, propensities, clip=clip, by=propensities_as, queries=queries)
    training, validation = _read(data, valid, {k: v for k, v in (("label", label), ("qid", qid)) if v is not None})
    if base is not None:
        training, validation = with_base(base, training, validation)
    if weighing is not None:
        training = weigh(weighing, training, to_learn=True)
        if validation is not None and not _has_grades(validation):
            validation = weigh(weighing, validation, to_learn=False)
            measure = Metric.parse(metric or "weighted-dcg@10", preset=preset)
    with clusters.opened(cluster) as workers, progress.progress_bar(1) as bar, console.printed_warnings():
        steps = TrainingProgress(1 if validation is None else searching.fits(chosen), bar.progress(method))
        if workers is not None:
            clusters.say_what_differs(training, chosen.learner)
        model = (fit if workers is None else workers.train)(
            training, chosen, valid=validation, metric=measure, seed=seed, search=searching, observers=(steps.record,)
        )
    if weighing is not None:
        model = model.with_info(clicks=weighing.record)
    if training.base_scores is not None:
        model = model.with_info(base=base or f"{training.source}.init")
    model.save(output)
    _print(model, training, validation, rule=searching.rule, output=output)


def _stops_early(model: Model) -> bool:
    """Whether validation data chose the best iteration."""
    return getattr(getattr(model.learner, "solver", model.learner), "patience", None) is not None


def _has_grades(data: Table) -> bool:
    """Whether some document is judged relevant; LETOR files write 0 for unjudged ones."""
    return data.labels is not None and bool((data.labels > 0).any())


def _read(data: str, valid: str | None, roles: dict[str, Any]) -> tuple[Table, Table | None]:
    """Read training data, and validation data if there is any; `roles` name the columns of tables."""
    from pathlib import Path

    from podium.base.errors import DataError
    from podium.formats import read_data, read_folder
    from podium.formats.folder import is_data_folder

    validation: Table | None = None
    if is_data_folder(data):
        folds = read_folder(data, **roles)
        if len(folds) > 1:
            raise DataError(
                f"has {len(folds)} folds. Train on one, e.g. {Path(data) / folds[0].name}, or use podium compare.",
                where=data,
            )
        training: Table = folds[0].train
        validation = folds[0].valid
    else:
        training = read_data(data, **roles)
    if valid is not None:
        validation = read_data(valid, n_features=training.n_features, **roles)
    for part in (training, validation):
        if part is not None and part.n_queries == 1 and part.n_documents > 1:
            console.say(
                f"warning: {part.source}: all {part.n_documents} documents are one query. Documents are compared "
                "within their query; if these are of several, add qid:… to every line."
            )
    return training, validation


def _print(model: Model, training: Table, validation: Table | None, *, rule: str, output: str) -> None:
    from podium.evaluation.report_texts import format_setting

    info = model.info
    console.out(f"trained    {model.learner}")
    console.out(
        f"data       {training.source}: {counted(training.n_queries, 'query', 'queries')}, "
        f"{counted(training.n_documents, 'document')}, {counted(training.n_features, 'feature')}"
    )
    if "clicks" in info:
        console.out(f"clicks     {info['clicks']['log']}: propensities {info['clicks']['propensities']}")
    if "base" in info:
        console.out(f"base       {info['base']}: the model's scores are to be added to these")
    if "unjudged" in info:
        console.out(f"unjudged   {counted(info['unjudged'], 'document')} without a label (nan), not learned from")
    if validation is None:
        console.out("validation none: hyperparameters are the method's defaults")
    else:
        console.out(f"validation {validation.source}: {info['metric']} {info['valid']:.4f}")
        if len(info.get("trials", [])) > 1 or _stops_early(model):
            console.out("           optimistic, since it chose the model: evaluate on other data, with podium evaluate")
    trials = info.get("trials", [])
    for number, trial in enumerate(trials):
        settings = ", ".join(f"{name}={format_setting(value)}" for name, value in trial.items() if name != "valid")
        mark = "  ← chosen" if number == info["chosen"] else ""
        console.out(f"  tried    {settings}: {info['metric']} {trial['valid']:.4f}{mark}")
    if len(trials) > 1:
        console.out(f"  chosen   {rule}")
    if "stopped" in info:
        console.out(f"stopped    {info['stopped']} ({info['iterations']} iterations)")
    console.out(f"model      {output}")
