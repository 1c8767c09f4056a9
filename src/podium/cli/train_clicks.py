"""`podium train --clicks`: document weights from a click log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from podium.base.errors import ParameterError
from podium.cli import click_logs, console

if TYPE_CHECKING:
    from podium.clicks import Weighing
    from podium.data.table import Table

By = Literal["weights", "offsets"]


def read_weighing(
    log: str | None, propensities: str | None, *, clip: float, by: By, queries: str | None = None
) -> Weighing | None:
    """Read the options --clicks, --propensities, --clip, --propensities-as and --queries; None without a log."""
    if log is None:
        if propensities is not None:
            raise ParameterError("--propensities go with --clicks LOG, the log that they weight.")
        if queries is not None:
            raise ParameterError("--queries go with --clicks LOG, the log whose queries they name.")
        return None
    if propensities is None:
        raise ParameterError(
            "--clicks needs --propensities FILE, made by podium clicks propensity LOG -o FILE; or none, to take clicks "
            "as they are."
        )
    from podium.clicks import Weighing, read_clicks, read_propensities

    if propensities == "none":
        console.say(
            "warning: clicks are taken as they are, with their position bias: documents shown at the top have more of "
            "them for that alone, and the model learns to repeat it. Estimate propensities: podium clicks propensity."
        )
    estimated = None if propensities == "none" else read_propensities(propensities)
    # a document twice on a page does no harm here: weights count its impressions
    clicks = click_logs.named_queries(read_clicks(log, repeated="keep"), queries)
    return Weighing(clicks, estimated, clip, "weights" if estimated is None else by)


def weigh(clicks: Weighing, data: Table, *, to_learn: bool) -> Table:
    """Replace grades by document weights from clicks, and print how many clicks and documents they rest on."""
    with console.printed_warnings():
        weighted = clicks.training(data) if to_learn else clicks.validation(data)
    console.say(
        f"{data.source}: {weighted.queries} of {data.n_queries} queries were logged; "
        f"{100 * weighted.clipped:.1f} % of the click weight clipped, "
        f"{100 * weighted.never_shown:.1f} % of their documents never shown"
    )
    return weighted.data
