"""`podium import`: convert a model of LightGBM, XGBoost, CatBoost or RankLib."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.base.errors import counted
from podium.cli import console


def import_model(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="LightGBM's text, XGBoost's JSON or UBJSON, CatBoost's JSON, or a model of RankLib.",
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="MODEL", help="The model file to write.")],
    format: Annotated[
        str | None,
        typer.Option(help="lightgbm, xgboost, catboost or ranklib.", show_default="recognised by content"),
    ] = None,
    trees: Annotated[
        str,
        typer.Option(help="For an XGBoost model with early stopping: all trees, or those up to the best iteration."),
    ] = "all",
    n_features: Annotated[
        int | None,
        typer.Option(
            help="For a model of RankLib: the number of features of your data.",
            show_default="up to the last one used",
            min=1,
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Your data's names of the features, one per line, in the model's order.",
            show_default="the file's",
        ),
    ] = None,
) -> None:
    """Import a model of another tool: rank, explain, compare and export then work on it.

    Untrusted files are safe to read: they hold numbers, never code; pickles are not read.
    """
    from podium.base.errors import ParameterError
    from podium.cli.documents import read_names
    from podium.imports import import_model as read

    if output == "-":
        raise ParameterError("-o -: a model is not text for standard output. Give it a file name.")
    console.check_file(output, what="a model")
    names = read_names(features)
    model = read(file, format=format, trees=trees, n_features=n_features, feature_names=names)  # type: ignore[arg-type]
    model.save(output)
    about = model.info["imported"]
    version = f" {about['version']}" if about.get("version") else ""
    console.out(f"imported   {about['format']}{version}: {model.learner}, {counted(model.n_features, 'feature')}")
    for key, value in about.items():
        if key not in ("format", "version", "sha256"):
            console.out(f"  {key}: {value}")
    if trees == "all" and "best_iteration" in about:
        console.out("  trees: all, as Booster predicts; --trees best takes those up to the best, as XGBRanker does")
    console.out(f"model      {output}")
