"""HTML report on a learning curve: the chart with its 90 % interval, what it says, and a table."""

from __future__ import annotations

from podium.evaluation.curves.learning_curve import LearningCurve
from podium.pages.kit import lines, paragraph, static_page, table


def page(curve: LearningCurve) -> str:
    """HTML report on a learning curve."""
    said = "".join(map(paragraph, curve.sentences()))
    summary = f"{curve.method} on parts of the {curve.by} of {curve.data or 'the training data'}, the same test data."
    return static_page("Learning curve", summary, {"Curve": _chart(curve) + said, "Numbers": _table(curve)})


def _chart(curve: LearningCurve) -> str:
    low, high = zip(*curve.intervals, strict=True)
    means = curve.means.tolist()
    span = max(high) - min(low)
    return lines(
        {f"{curve.metric}, with its 90 % interval": means},
        label=f"{curve.metric} from {means[0]:.4f} with {curve.sizes[0]} {curve.by} to {means[-1]:.4f} with all",
        x_name=f"{curve.by} of training data",
        y_name=str(curve.metric),
        low=max(min(low) - 0.1 * span, 0.0),
        band=(high, low),
        ticks=list(map(str, curve.sizes)),
    )


def _table(curve: LearningCurve) -> str:
    rows = [
        [str(n), f"{value:.4f}", f"{low:.4f}", f"{high:.4f}"]
        for n, value, (low, high) in zip(curve.sizes, curve.means, curve.intervals, strict=True)
    ]
    return table([curve.by, str(curve.metric), "from", "to"], rows, label="Values by size of the training data")
