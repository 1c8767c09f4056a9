"""`podium explain`: why a model ranks one document above another, and what it does with each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import console, options

if TYPE_CHECKING:
    from podium.explanation.explain import Explanation
    from podium.model import Model


def explain(
    model: Annotated[str, typer.Argument(help="A model that podium train or compare wrote.")],
    data: Annotated[
        str | None,
        typer.Argument(
            help="The documents: a file, or - for standard input. --trees and --card need none.", show_default=False
        ),
    ] = None,
    query: Annotated[str | None, typer.Option("--query", help="The query's id.", show_default=False)] = None,
    doc: Annotated[
        list[str] | None,
        typer.Option(
            "--doc",
            help="A document's id, or its row from 0 if there are no ids; give two of them.",
            show_default=False,
        ),
    ] = None,
    shapes: Annotated[
        bool, typer.Option("--shapes", help="Show what each feature does to scores, over its values in the data.")
    ] = False,
    trees: Annotated[bool, typer.Option("--trees", help="Print the trees as rules.")] = False,
    card: Annotated[
        bool,
        typer.Option("--card", help="Print the model card in Markdown; with DATA, also its quality there."),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Of --shapes: write an HTML page of charts.", show_default=False),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Explain why one document is ranked above another: the contribution of each feature to their score difference.

    Also gives the smallest change of a single feature, in standard deviations, that reverses the pair (a
    counterfactual explanation). Exact for linear models and trees; integrated gradients for multi-layer perceptrons.
    --shapes, --trees and --card explain the whole model instead.
    """
    from podium.model import Model

    if output is not None:
        console.check_file(output, what="the page")
    _check_options(data, query, doc or [], shapes=shapes, trees=trees, card=card, output=output, as_json=as_json)
    fitted = Model.load(model)
    if trees:
        from podium.explanation.tree_rules import tree_rules

        console.out(tree_rules(fitted))
    elif card:
        _print_card(fitted, data)
    elif shapes:
        _explain_shapes(fitted, str(data), model_file=model, output=output, as_json=as_json)
    else:
        _explain_pair(fitted, str(data), str(query), doc or [], as_json=as_json)


def _check_options(
    data: str | None,
    query: str | None,
    doc: list[str],
    *,
    shapes: bool,
    trees: bool,
    card: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Raise an error if the options do not say what to explain."""
    if shapes + trees + card > 1:
        raise ParameterError("--shapes, --trees or --card, not several.")
    if (shapes or trees or card) and (query is not None or doc):
        raise ParameterError(
            "--query and --doc explain a pair of documents; leave them out, or --shapes, --trees and --card."
        )
    if data is None and not trees and not card:
        raise ParameterError("The documents are needed: podium explain MODEL DATA …; --trees and --card need none.")
    if output is not None and not shapes:
        raise ParameterError("-o writes the charts of --shapes. Add --shapes.")
    if trees and as_json:
        raise ParameterError("--trees prints text. `podium export MODEL --to lightgbm` writes trees for programs.")
    if card and as_json:
        raise ParameterError("--card prints Markdown; the record that it is made of is `Model.info` in Python.")
    if not shapes and not trees and not card and (query is None or len(doc) != 2):
        raise ParameterError(
            f"A query and two documents are needed, --query Q --doc A --doc B; got {counted(len(doc), 'document')}. Or "
            "explain the whole model with --shapes, --trees or --card."
        )


def _print_card(model: Model, data: str | None) -> None:
    from podium.cli.documents import read_documents
    from podium.explanation.model_card import model_card

    console.out(model_card(model, None if data is None else read_documents(data, model)).rstrip())


def _explain_shapes(model: Model, data: str, *, model_file: str, output: str | None, as_json: bool) -> None:
    from podium.base.files import writing
    from podium.cli.documents import read_documents
    from podium.explanation.shapes import shapes
    from podium.pages.shape_charts import page

    drawn = shapes(model, read_documents(data, model, labels=False))
    if as_json:
        console.print_json(drawn.to_dict())
    else:
        console.out(str(drawn))
    if output is not None:
        with writing(output) as file:
            file.write(page(drawn, model=f"{model.learner} of {model_file}, over the values of {data}").encode())
        console.say(f"wrote {output}")


def _explain_pair(model: Model, data: str, query: str, doc: list[str], *, as_json: bool) -> None:
    from podium.cli.documents import read_documents
    from podium.explanation.explain import explain as why

    explanation = why(model, read_documents(data, model), query=query, documents=(doc[0], doc[1]))
    if as_json:
        console.print_json(explanation.to_dict())
    else:
        _print(explanation)


def _print(why: Explanation) -> None:
    parts = why.to_dict(most=_MOST)
    upper, lower = parts["documents"]
    for doc in (upper, lower):
        grade = "" if doc["grade"] is None else f", grade {doc['grade']:g}"
        console.out(f"{doc['document']}: score {doc['score']:.6g}, rank {doc['rank']} of query {why.query}{grade}")
    if why.difference == 0:
        console.out("They are tied.")
    rows = [[f["feature"], *map(_number, f["values"]), f"{f['share']:+.6f}"] for f in parts["features"]]
    others = parts["others"] + parts["rest"]
    if abs(others) >= _SHOWN:
        rows.append(["all others", "", "", f"{others:+.6f}"])
    rows.append(["difference", "", "", f"{why.difference:+.6f}"])
    console.out("")
    console.print_table(["feature", upper["document"], lower["document"], "adds"], rows)
    console.out(f"\nShares: {why.how}.")
    if abs(why.rest) >= _SHOWN:
        console.out(f"Of the difference, {why.rest:+.6f} belongs to no feature: the error of the integration.")
    if why.flip is not None:
        flip = parts["flip"]
        console.out(
            f"To turn the pair round by one feature: feature {flip['feature']} of {upper['document']} from "
            f"{flip['from']:.6g} to {flip['to']:.6g} ({flip['spreads']:.2f} standard deviations)."
        )
        low, high = flip["range"] or (flip["to"], flip["to"])
        if not low <= flip["to"] <= high:
            console.out(f"No document has such a value: the data has {low:.6g} to {high:.6g}.")
    elif why.difference > 0:
        console.out("No change of one feature alone was found that turns the pair round.")


_MOST = 20
_SHOWN = 5e-7


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
