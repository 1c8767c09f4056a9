"""`podium clicks`: import and check click logs, fit click models, estimate propensities, derive labels."""

from __future__ import annotations

from collections.abc import Callable

import typer

from podium.cli import (
    clicks_check,
    clicks_compare,
    clicks_features,
    clicks_fit,
    clicks_import,
    clicks_label,
    clicks_propensity,
    clicks_simulate,
)

app = typer.Typer(
    name="clicks",
    help="Click logs: import and check them, fit click models, estimate propensities, derive labels and preferences.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "import": clicks_import.import_,
    "check": clicks_check.check,
    "fit": clicks_fit.fit,
    "compare": clicks_compare.compare,
    "propensity": clicks_propensity.propensity,
    "label": clicks_label.label,
    "prefer": clicks_label.prefer,
    "features": clicks_features.features,
    "simulate": clicks_simulate.simulate,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
