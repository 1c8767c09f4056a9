"""`podium train --clicks`: document weights from a click log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from podium.cli import console
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.clicks import Propensities
    from podium.data import ClickLog
    from podium.data.table import Table

By = Literal["weights", "offsets"]


@dataclass(frozen=True)
class Clicks:
    """A click log with propensities, to learn from."""

    log: ClickLog
    propensities: Propensities | None  # None: clicks as they are
    clip: float
    by: By  # whether propensities divide clicks, or are offsets of scores
    path: str

    @property
    def record(self) -> dict[str, Any]:
        """What a model remembers of it."""
        how = "none" if self.propensities is None else self.propensities.how
        return {"log": self.path, "propensities": how, "clip": self.clip, "by": self.by}

    def weigh(self, data: Table, *, to_learn: bool = True) -> Table:
        """The data with document weights in place of grades, to learn from or to be judged by."""
        from podium.clicks import weights

        with console.printed_warnings():
            made = weights(self.log, self.propensities, data, clip=self.clip, by=self.by if to_learn else "weights")
        console.say(
            f"{data.source}: {made.queries} of {data.n_queries} queries were logged; "
            f"{100 * made.clipped:.1f} % of the click weight clipped, "
            f"{100 * made.never_shown:.1f} % of their documents never shown"
        )
        return made.data


def clicks_of(log: str | None, propensities: str | None, *, clip: float, by: By) -> Clicks | None:
    """What the options --clicks, --propensities, --clip and --propensities-as ask for."""
    from podium.clicks import read_propensities
    from podium.data import read_clicks

    if log is None:
        if propensities is not None:
            raise ParameterError("--propensities go with --clicks LOG, the log that they weight.")
        return None
    if propensities is None:
        raise ParameterError(
            "--clicks needs --propensities FILE, made by podium clicks propensity LOG -o FILE; or none, to take clicks "
            "as they are."
        )
    if propensities == "none":
        console.say(
            "warning: clicks are taken as they are. Documents that were shown at the top had more of them for that "
            "alone, and the model learns to repeat it. Estimate propensities: podium clicks propensity."
        )
    known = None if propensities == "none" else read_propensities(propensities)
    # a document twice on a page does no harm here: weights count its impressions
    return Clicks(read_clicks(log, repeated="keep"), known, clip, "weights" if known is None else by, log)
