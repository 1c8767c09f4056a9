"""Documents for a model, as several commands read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.cli import console

if TYPE_CHECKING:
    from podium.data import Dataset
    from podium.model import Model


def read_documents(source: str, model: Model) -> Dataset:
    """The data of a file, with as many features as the model; says so where a LETOR file has fewer."""
    from podium.data import read_data
    from podium.data.folder import widened

    data = read_data(source)
    if data.feature_names is not None or data.n_features >= model.n_features:
        return data
    console.say(
        f"{data.source}: only features up to {data.n_features} occur; the model was trained with {model.n_features}. "
        "The others count as 0."
    )
    return widened(data, model.n_features)
