"""`podium train`: train a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import counted
from podium.cli import click_logs, clusters, console, options, progress
from podium.cli.train_clicks import By, read_weighing
from podium.cli.train_like import weighted_like
from podium.cli.train_parts import read_parts

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.methods import Method
    from podium.model import Model


def train(
    data: Annotated[str, typer.Argument(help="A file, a folder with train and vali files, or - for standard input.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="A method or a specification, e.g. listnet or 'listnet(penalty=0.1)'.",
            show_default="lambdamart; for features of an index shrunk; with --from the model's",
        ),
    ] = None,
    valid: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|FRACTION|none",
            help="Validation data, for tuning, early stopping and odds: a file, or the fraction of the data's queries "
            "to hold out for it, e.g. 0.2 or 20%.",
            show_default="the folder's; else 0.2",
        ),
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
            "'lambdamart(damped=false,by_grade=0)'."
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
    like: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Data of the queries to rank later, without labels: queries like these weigh more (covariate shift).",
            show_default=False,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="A model to go on from: trees are added to its trees; weights begin with its weights.",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="With --from: the number of trees to add.", show_default="the model's")
    ] = None,
    categorical: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Features without an order, such as brand,colour: text or codes; of LETOR files their numbers.",
            show_default=False,
        ),
    ] = None,
    preset: options.Preset = None,
    label: options.Label = None,
    qid: options.Qid = None,
    query_features: options.QueryFeatures = None,
    seed: options.Seed = 0,
    search: options.Search = "grid",
    cluster: options.ClusterOption = None,
    output: Annotated[str, typer.Option("-o", "--output", help="The model file to write.")] = "model.podium",
) -> None:
    """Train a model; `podium methods` lists the methods.

    With validation data, the method's hyperparameters are tuned on it. If the data has none, a fifth of its queries is
    held out for it: --valid none learns from all of them. Features of an index (podium features) are learned from by
    shrunk, which cross-validates instead.

    With --clicks, the model learns from clicks instead of the data's grades (unbiased learning to rank): a click counts
    one over the propensity of its rank, or, with --propensities-as offsets, compared with the clicks expected at it.
    """
    from podium.base.errors import ParameterError
    from podium.methods import method as named
    from podium.metrics import Metric
    from podium.training import DEFAULT, TrainingProgress, default_method
    from podium.training import train as fit
    from podium.tuning import Tuning

    if output == "-":
        raise ParameterError("-o -: a model is not text for standard output. Give it a file name.")
    console.check_file(output, what="a model")
    start, chosen = _started(from_, method, rounds, cluster=cluster)
    searching = Tuning.parse(search)
    measure = Metric.parse(metric or "ndcg@10", preset=preset)
    weighing = read_weighing(clicks, propensities, clip=clip, by=propensities_as, queries=queries)
    about = console.split_option(query_features, ())
    unordered = console.split_option(
        [categorical] if categorical else None, list(start.named_categories()) if start else ()
    )
    columns = (("label", label), ("qid", qid), ("query_features", about), ("categorical", unordered))
    roles = {key: value for key, value in columns if value}

    def method_for(table: Table) -> Method:
        return chosen or named(DEFAULT if cluster else default_method(table))

    training, validation, note = read_parts(
        data, valid, roles=roles, weighing=weighing, metric=measure, seed=seed, base=base,
        needs_none=lambda table: method_for(table).learner.cross_validates,
    )  # fmt: skip
    chosen = method_for(training)
    shift = None
    if like is not None:
        training, shift = weighted_like(training, like, seed=seed)
    if validation is not None and validation.labels is None and validation.document_weights is not None:
        measure = Metric.parse(metric or "weighted-dcg@10", preset=preset)
    with clusters.opened(cluster) as workers, progress.progress_bar(1) as bar, console.printed_warnings():
        fits = 1 if validation is None or start is not None else searching.fits(chosen)
        steps = TrainingProgress(fits, bar.progress(chosen.learner.name if method is None else method))
        if workers is not None:
            clusters.say_what_differs(training, chosen.learner)
        model = (fit if workers is None else workers.train)(
            training, chosen, valid=validation, metric=measure, seed=seed, search=searching, observers=(steps.record,),
            start=start,
        )  # fmt: skip
    if weighing is not None:
        model = model.with_info(clicks=weighing.record)
    if training.base_scores is not None:
        model = model.with_info(base=base or f"{training.source}.init")
    if shift is not None:
        model = model.with_info(like=shift)
    model.save(output)
    _print(model, training, note, rule=searching.rule, output=output)


def _started(path: str | None, method: str | None, rounds: int | None, *, cluster: str | None) -> Any:
    """The model to go on from, if there is one, and the method: the given one, or the model's; None for neither."""
    from podium.base.errors import ParameterError
    from podium.methods import Method
    from podium.methods import method as named

    if path is None:
        if rounds is not None:
            raise ParameterError("--rounds goes with --from. Write --method 'lambdamart(rounds=…)'.")
        return None, None if method is None else named(method)
    if cluster is not None:
        raise ParameterError("--from is for one machine: leave --cluster out.")
    from podium.model import Model

    start = Model.load(path)
    chosen = Method(start.learner) if method is None else named(method)
    if rounds is None:
        return start, chosen
    if not chosen.learner.has_parameter("rounds"):
        raise ParameterError(f"--rounds: {chosen.learner} has no rounds. Leave it out.")
    return start, Method(chosen.learner.changed({"rounds": str(rounds)}))


def _was_chosen(model: Model) -> bool:
    """Whether validation data chose hyperparameters, the best iteration, or what members of an ensemble are."""
    stops_early = getattr(getattr(model.learner, "solver", model.learner), "patience", None) is not None
    return stops_early or len(model.info.get("trials", [])) > 1 or "members" in model.info


def _print(model: Model, training: Table, note: str, *, rule: str, output: str) -> None:
    """Print what was done; `note` says where the validation data comes from."""
    from podium.tuning import format_setting

    info = model.info
    console.out(f"trained    {model.learner}")
    console.out(
        f"data       {training.source}: {counted(training.n_queries, 'query', 'queries')}, "
        f"{counted(training.n_documents, 'document')}, {counted(training.n_features, 'feature')}"
    )
    if training.categories:
        names = training.feature_names or tuple(str(column + 1) for column in range(training.n_features))
        said = ", ".join(f"{names[column]} ({len(kept)})" for column, kept in sorted(training.categories.items()))
        console.out(f"categories {said}")
    if "clicks" in info:
        console.out(f"clicks     {info['clicks']['log']}: propensities {info['clicks']['propensities']}")
    if "base" in info:
        console.out(f"base       {info['base']}: the model's scores are to be added to these")
    if "like" in info:
        shift = info["like"]
        console.out(
            f"like       {shift['data']}: weights {shift['least']:.2f} to {shift['most']:.2f}, worth "
            f"{shift['effective']:.0f} of {shift['queries']} queries"
        )
    if "from" in info:
        console.out("went on    from the given model, with its transform of features")
    if "unjudged" in info:
        console.out(f"unjudged   {counted(info['unjudged'], 'document')} without a label (nan), not learned from")
    trials = info.get("trials", [])
    if "valid" not in info and trials:
        console.out(f"validation {note}: {info['metric']} {trials[info['chosen']]['valid']:.4f}")
    elif "valid" not in info:
        console.out(f"validation {note}: hyperparameters are the method's defaults")
    else:
        console.out(f"validation {note}: {info['metric']} {info['valid']:.4f}")
        if _was_chosen(model):
            console.out("           optimistic, since it chose the model: evaluate on other data, with podium evaluate")
    for number, trial in enumerate(trials):
        settings = ", ".join(f"{name}={format_setting(value)}" for name, value in trial.items() if name != "valid")
        mark = "  ← chosen" if number == info["chosen"] else ""
        console.out(f"  tried    {settings or 'as given'}: {info['metric']} {trial['valid']:.4f}{mark}")
    if len(trials) > 1:
        console.out(f"  chosen   {info.get('rule', rule)}")
    if "stopped" in info:
        steps = f" ({info['iterations']} iterations)" if "iterations" in info else ""
        console.out(f"stopped    {info['stopped']}{steps}")
    console.out(f"model      {output}")
