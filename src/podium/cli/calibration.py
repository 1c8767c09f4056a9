"""`podium calibration`: whether a model's odds come true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options

if TYPE_CHECKING:
    from podium.evaluation.calibration import Calibration


def calibration(
    model: Annotated[str, typer.Argument(help="A model that podium train wrote.")],
    data: Annotated[str, typer.Argument(help="Labelled data that the model has not seen; - is standard input.")],
    with_ties: options.WithTies = False,
    as_json: options.Json = False,
) -> None:
    """Check whether a model's odds come true: do documents given 30 % come first 30 % of the time?

    Where k documents share the best grade, all k come first: their chance is the chance to be among the first k.
    """
    from podium.cli.documents import read_documents
    from podium.evaluation.calibration import calibration as measure
    from podium.model import Model

    fitted = Model.load(model)
    labelled = read_documents(data, fitted)
    found = measure(fitted.distribution(labelled, with_ties=with_ties), labelled)
    if as_json:
        console.print_json(found.to_dict())
    else:
        _print(found)


def _print(found: Calibration) -> None:
    console.say(f"odds: {found.how}")
    top = max(max(one.predicted, one.observed) for one in found.bins)
    rows = [
        [
            f"{100 * one.low:g}–{100 * one.high:g} %",
            str(one.documents),
            f"{one.predicted:.4f}",
            f"{one.observed:.4f}",
            f"± {one.standard_error:.4f}",
            _bar(one.observed / top, one.predicted / top),
        ]
        for one in found.bins
    ]
    console.print_table(["given", "documents", "predicted", "came first", "", "came first ■, predicted │"], rows)
    console.out("")
    skipped = f" ({found.skipped} more without two grades)" if found.skipped else ""
    lines = [
        ("queries", f"{found.queries}{skipped}"),
        ("calibration error", f"{found.error:.4f}"),
        ("Brier score", f"{found.brier:.4f}, even chances {found.brier_even:.4f}"),
        ("log loss", f"{found.log_loss:.4f}, even chances {found.log_loss_even:.4f}"),
        (f"{100 * found.level:g} % intervals", f"hold {100 * found.coverage:.1f} % of ranks, {found.width:.1f} wide"),
    ]
    for name, value in lines:
        console.out(f"{name:18} {value}")


def _bar(observed: float, predicted: float) -> str:
    """A bar as long as what happened, with a mark at what was predicted."""
    cells = ["■" if (k + 0.5) / _CELLS < observed else " " for k in range(_CELLS + 1)]
    cells[round(predicted * _CELLS)] = "│"
    return "".join(cells)


_CELLS = 30
