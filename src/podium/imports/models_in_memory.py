"""Models of LightGBM, XGBoost and CatBoost in memory: their files as bytes, written by their own public methods."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from podium.base.errors import ModelFileError, ParameterError


class Written(NamedTuple):
    """A model as its tool writes it."""

    raw: bytes
    format: str
    best: bool = False  # whether the object predicts with the trees up to its best iteration


def written(model: Any) -> Written:
    """A Booster, a ranker of scikit-learn's kind, or a CatBoost model as the bytes of its file."""
    tool = type(model).__module__.partition(".")[0]
    writers = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}
    if tool not in writers:
        raise ParameterError(
            "a model file, its bytes, a model of LightGBM, XGBoost or CatBoost, or a regression tree or forest of "
            f"scikit-learn is expected; got {type(model).__name__}."
        )
    try:
        return writers[tool](model)
    except Exception as error:  # of the tool, e.g. since the model is not fitted
        raise ModelFileError(f"{type(model).__name__} cannot be written by {tool}: {error}") from error


def _lightgbm(model: Any) -> Written:
    booster = model if hasattr(model, "model_to_string") else model.booster_
    return Written(booster.model_to_string().encode(), "lightgbm")


def _xgboost(model: Any) -> Written:
    booster, best = model, False
    if not hasattr(model, "save_raw"):
        booster = model.get_booster()
        best = booster.attr("best_iteration") is not None  # as its predict does
    return Written(bytes(booster.save_raw(raw_format="json")), "xgboost", best)


def _catboost(model: Any) -> Written:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return Written(path.read_bytes(), "catboost")
