"""`podium curve`: what more judged queries, or more judged documents per query, would bring."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from podium.cli import console, options


def curve(
    data: Annotated[
        str, typer.Argument(help="A folder with train, vali and test (of several folds the first), or a file to split.")
    ],
    method: Annotated[str, typer.Option(help="A method.")],
    metric: Annotated[str, typer.Option("-m", "--metric", help="The metric on test data.")] = "ndcg@10",
    by: Annotated[
        Literal["queries", "documents"],
        typer.Option(help="Train on parts of the queries, or on all queries with parts of their documents."),
    ] = "queries",
    preset: options.Preset = None,
    seed: options.Seed = 0,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="An HTML report with the chart.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Draw a learning curve: would more judged queries make the ranking better, and by how much?

    Trains on 1/16, 1/8, 1/4, 1/2 and all of the training data, in 5 random orders; hyperparameters are tuned once, on
    half of it, and fixed. A fit of a − b·size^−c says what twice the data would bring; it is refused if the last
    doubling brought nothing sure.
    """
    from podium.evaluation.curves.learning_curve import learning_curve
    from podium.formats.folder import read_folder

    if output is not None:
        console.check_output(output)
    folds = read_folder(data, seed=seed)
    if len(folds) > 1:
        console.say(f"{len(folds)} folds; the curve is that of {folds[0].name}")
    with console.printed_warnings():
        drawn = learning_curve(folds[0], method, metric, by=by, preset=preset, seed=seed)
    if output is not None:
        from podium.base.files import writing
        from podium.pages.curve import page

        with writing(output) as file:
            file.write(page(drawn).encode())
    if as_json:
        console.print_json(drawn.to_dict())
    else:
        rows = [
            [str(n), *(f"{value:.4f}" for value in (mean, *span))]
            for n, mean, span in zip(drawn.sizes, drawn.means, drawn.intervals, strict=True)
        ]
        console.print_table([by, str(drawn.metric), "from", "to"], rows)
        console.say(f"{drawn.method}, hyperparameters tuned on half of the data and fixed; 90 % intervals")
        for sentence in drawn.sentences():
            console.out(sentence)
    if output is not None:
        console.say(f"wrote {output}")
