"""`podium explain`: why a model ranks one document above another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import ParameterError
from podium.cli import console, options

if TYPE_CHECKING:
    from podium.explanation.explain import Explanation


def explain(
    model: Annotated[str, typer.Argument(help="A model that podium train or compare wrote.")],
    data: Annotated[str, typer.Argument(help="The documents: a file, or - for standard input.")],
    query: Annotated[str, typer.Option("--query", help="The query's id.")],
    doc: Annotated[
        list[str],
        typer.Option("--doc", help="A document's id, or its row from 0 if there are no ids; give two of them."),
    ],
    as_json: options.Json = False,
) -> None:
    """Explain why one document is ranked above another: the contribution of each feature to their score difference.

    Also gives the smallest change of a single feature, in standard deviations, that reverses the pair (a
    counterfactual explanation). Exact for linear models and trees; integrated gradients for multi-layer perceptrons.
    """
    from podium.cli.documents import read_documents
    from podium.explanation.explain import explain as why
    from podium.model import Model

    if len(doc) != 2:
        raise ParameterError(f"Two documents are needed, --doc A --doc B; got {len(doc)}.")
    fitted = Model.load(model)
    explanation = why(fitted, read_documents(data, fitted), query=query, documents=(doc[0], doc[1]))
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
