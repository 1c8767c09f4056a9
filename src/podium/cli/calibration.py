"""`podium calibration`: whether the probabilities of ranks that a model gives are calibrated."""

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
    """Check whether a model's odds (probabilities of ranks) are calibrated: do documents given 30 % come first in 30 %?

    If k documents share the best grade, all k come first: their probability is that of being among the first k.
    """
    from podium.cli.documents import read_documents, say_if_seen
    from podium.evaluation.calibration import calibration as measure
    from podium.model import Model

    fitted = Model.load(model)
    labelled = read_documents(data, fitted)
    say_if_seen(fitted, labelled)
    report = measure(fitted.distribution(labelled, with_ties=with_ties), labelled)
    if as_json:
        console.print_json(report.to_dict())
    else:
        _print(report)


def _print(report: Calibration) -> None:
    console.say(f"odds: {report.how}")
    top = max(max(bin_.predicted, bin_.observed) for bin_ in report.bins)
    rows = [
        [
            f"{100 * bin_.low:g}–{100 * bin_.high:g} %",
            str(bin_.documents),
            f"{bin_.predicted:.4f}",
            f"{bin_.observed:.4f}",
            f"± {bin_.standard_error:.4f}",
            _bar(bin_.observed / top, bin_.predicted / top),
        ]
        for bin_ in report.bins
    ]
    console.print_table(["given", "documents", "predicted", "came first", "", "came first ■, predicted │"], rows)
    console.out("")
    skipped = f" ({report.skipped} more without two grades)" if report.skipped else ""
    lines = [
        ("queries", f"{report.queries}{skipped}"),
        ("calibration error", f"{report.error:.4f}"),
        ("Brier score", f"{report.brier:.4f}, even chances {report.brier_even:.4f}"),
        ("log loss", f"{report.log_loss:.4f}, even chances {report.log_loss_even:.4f}"),
        (
            f"{100 * report.level:g} % intervals",
            f"hold {100 * report.coverage:.1f} % of ranks, {report.width:.1f} wide",
        ),
    ]
    for name, value in lines:
        console.out(f"{name:18} {value}")


def _bar(observed: float, predicted: float) -> str:
    """Bar of the observed share, with a mark at the predicted one."""
    cells = ["■" if (k + 0.5) / _CELLS < observed else " " for k in range(_CELLS + 1)]
    cells[round(predicted * _CELLS)] = "│"
    return "".join(cells)


_CELLS = 30
