"""HTML report on precision–recall curves: the chart, the AUC over all documents, and a table."""

from __future__ import annotations

from podium.evaluation.curves.recall_curve import LEVELS, RecallCurve
from podium.pages.kit import lines, paragraph, static_page, table


def page(curve: RecallCurve, judged: str) -> str:
    """HTML report on the curves of files that were evaluated against `judged`."""
    marks = [f"{level:.2f}".rstrip("0").rstrip(".") for level in LEVELS]
    ends = "; ".join(f"{name} from {values[0]:.3f} to {values[-1]:.3f}" for name, values in curve.precisions.items())
    chart = lines(
        curve.precisions,
        label=f"precision at recall 0 and 1: {ends}",
        x_name="recall",
        y_name="precision",
        high=1.0,
        ticks=marks,
    )
    rows = [[mark, *(f"{values[k]:.4f}" for values in curve.precisions.values())] for k, mark in enumerate(marks)]
    numbers = table(["recall", *curve.precisions], rows, label="Interpolated precision by recall level", words=1)
    summary = f"Mean interpolated precision over {curve.queries} queries of {judged}."
    said = "".join(map(paragraph, curve.sentences()))
    return static_page("Precision and recall", summary, {"Curve": chart + said, "Numbers": numbers})
