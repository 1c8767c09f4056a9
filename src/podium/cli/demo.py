"""`podium demo`: compare methods on synthetic data, and say what to try next; offline."""

from __future__ import annotations

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options
from podium.cli.demo_data import make_data

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.evaluation.compare import Comparison
    from podium.evaluation.evaluate import Evaluation

METHODS = (
    "random",
    "single-feature",
    "regression",
    "ranknet",
    "listnet",
    "pmop-fd",
    "lambdarank",
    "lambdamart",
)


class Demo(StrEnum):
    """The demos."""

    RANKING = "ranking"
    SEARCH = "search"
    SERVE = "serve"
    PAPERS = "papers"


def demo(
    what: Annotated[
        Demo,
        typer.Argument(
            help="ranking: train and compare rankers on synthetic data. search: index Python's own documentation, "
            "search it, and learn to search it better. serve: the ranking service and its web interface, on "
            "an invented shop with BM25 and learned search. papers: the specs of tables in papers, on synthetic data."
        ),
    ] = Demo.RANKING,
    output: Annotated[
        str, typer.Option("-o", "--output", help="The folder for data, models and tables.")
    ] = "podium-demo",
    seed: options.Seed = 0,
    port: Annotated[
        int | None, typer.Option(help="For serve: the port to listen on.", show_default="8080, or a free one")
    ] = None,
) -> None:
    """Show what podium does, in a minute and offline: rankers, a search engine that learns, or a service."""
    if what is Demo.SEARCH:
        from podium.cli.demo_search import demo_search

        demo_search(output, seed=seed)
    elif what is Demo.SERVE:
        from podium.cli.demo_serve import demo_serve

        demo_serve(output, port=port, seed=seed)
    elif what is Demo.PAPERS:
        from podium.cli.demo_papers import demo_papers

        demo_papers(output, seed=seed)
    else:
        demo_ranking(output, seed=seed)


def demo_ranking(output: str, *, seed: int) -> None:
    """Train and compare rankers on synthetic data with a planted truth."""
    from podium.cli.watching import Watching
    from podium.comparison import make_spec, run_spec
    from podium.formats import read_letor

    console.check_output(output)
    data = os.path.join(output, "data")
    utility = make_data(Path(data), seed)
    spec = make_spec([data], list(METHODS), metrics=("ndcg@10", "map"), seeds=(seed,), output=output)
    with Watching(spec, lambda *_: None) as watching, console.printed_warnings():
        [comparison] = run_spec(spec, observer=watching).values()
    _print(comparison, _truth(comparison, read_letor(Path(data) / "test.txt"), utility))
    _next(output)


def _truth(comparison: Comparison, test: Table, utility: dict[str, float]) -> Evaluation:
    """Evaluate the planted utility itself, which no method can be expected to beat."""
    from podium.evaluation.evaluate import evaluate

    assert test.document_ids is not None
    return evaluate(test, [utility[name] for name in test.document_ids], comparison.metrics)


def _print(comparison: Comparison, truth: Evaluation) -> None:
    from podium.evaluation.report_texts import leaders, summary
    from podium.evaluation.text_tables import format_value

    heads, rows = summary(comparison)
    values = [format_value(average.value) for average in truth.means().values()]
    rows.insert(0, ["(planted truth)", *values, "", "", ""])
    console.print_table(heads, rows, styles={(1, c): "bold" for c in range(len(heads))})
    best = leaders(comparison)
    if best is not None:
        console.out(f"{best[0].upper()}{best[1:]}.")
    console.out("The planted truth is what made the grades, before noise: no method can be expected to beat it.")


def _next(output: str) -> None:
    at = shlex.quote(output)
    console.out(f"""
Models, data, tables and per-query values are in {output}; {output}/report.html shows them in a browser. Try next:

  podium rank {at}/models/data-lambdamart.podium {at}/data/test.txt -o {at}/scores.txt
  podium evaluate {at}/data/test.txt {at}/scores.txt -m ndcg@10 -m map -m err
  podium check {at}/data
  podium methods lambdamart
  podium train {at}/data --method 'listnet(scorer=mlp)' -o {at}/mlp.podium
  podium compare {at}/data --method 'lambdamart(num_leaves=15)' --method 'listnet(scorer=mlp)'""")
