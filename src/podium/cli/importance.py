"""`podium importance`: which features matter to a model."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from podium.base.errors import IncompatibleError
from podium.cli import console, options

_MOST = 20


def importance(
    model: Annotated[str, typer.Argument(help="A model that podium train or compare wrote.")],
    data: Annotated[
        str | None,
        typer.Argument(
            help="The documents: a file, or - for standard input. Only gain and splits of trees need none.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Literal["gain", "splits", "drop", "shap"],
        typer.Option(
            help="gain: of its splits, or |weight| × standard deviation; splits: their number; drop: how much a metric "
            "falls when the feature is shuffled; shap: mean |SHAP value|."
        ),
    ] = "gain",
    metric: Annotated[str, typer.Option("-m", "--metric", help="The metric of drop.")] = "ndcg@10",
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write an HTML page with a chart.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show how much each feature matters to a model, as shares of 1."""
    from podium.base.files import writing
    from podium.cli.documents import read_documents
    from podium.explanation.importance import importance as measured
    from podium.model import Model
    from podium.pages.importance_chart import page

    if output is not None:
        console.check_file(output, what="the page")
    fitted = Model.load(model)
    documents = None if data is None else read_documents(data, fitted, labels=kind == "drop")
    ranked = measured(fitted, documents, kind=kind, metric=metric)
    if ranked is None:
        raise IncompatibleError(f"{fitted.learner} has no importance by {kind}. Try --kind drop, with labelled data.")
    shares, how = ranked
    names = fitted.feature_names or tuple(str(l + 1) for l in range(fitted.n_features))
    order = sorted(range(len(shares)), key=lambda l: -shares[l])
    by_name = {names[l]: float(shares[l]) for l in order}
    if as_json:
        console.print_json({"kind": kind, "how": how, "features": by_name})
    else:
        console.print_table(
            ["feature", "share"], [[name, f"{share:.4f}"] for name, share in list(by_name.items())[:_MOST]]
        )
        rest = f" ({len(order) - _MOST} more features)" if len(order) > _MOST else ""
        console.out(f"\nShare: {how}{rest}.")
    if output is not None:
        with writing(output) as file:
            file.write(page(by_name, how=how, model=f"{fitted.learner} of {model}").encode())
        console.say(f"wrote {output}")
