"""Models and comparisons in MLflow: models as pyfunc, with `qid` in their signature; comparisons with their report."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import MissingPackageError
from podium.evaluation.compare import Comparison
from podium.model import Model
from podium.pages.report import page

try:
    import mlflow
    import mlflow.pyfunc
    from mlflow.models import ModelSignature
    from mlflow.types.schema import ColSpec, Schema
except ImportError:
    raise MissingPackageError("mlflow", "podium.integrations.mlflow", "adapters") from None


def log_model(model: Model, name: str = "model", **options: Any) -> Any:
    """Log a model in the active run: its file, not pickled; `options` are those of `mlflow.pyfunc.log_model`.

    Loaded by MLflow, it takes a frame with the features and the column `qid`, and returns scores.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.podium"
        model.save(file)
        options = {"pip_requirements": ["podium"], **options}
        return mlflow.pyfunc.log_model(
            name=name, loader_module=__name__, data_path=os.fspath(file), signature=signature(model), **options
        )


def signature(model: Model) -> ModelSignature:
    """The columns that a model takes, `qid` first, and the scores that it returns."""
    columns = [ColSpec("string", "qid"), *(ColSpec("double", name, required=False) for name in _names(model))]
    return ModelSignature(Schema(columns), Schema([ColSpec("double", "score")]))


def log_comparison(comparison: Comparison, name: str = "report") -> None:
    """Log a comparison in the active run: the mean of each metric by method, and the HTML report."""
    for method in comparison.by_method:
        for metric, value in zip(comparison.metrics, comparison.mean(method).tolist(), strict=True):
            mlflow.log_metric(_plain(f"{metric}/{method}"), value)
    mlflow.log_text(page(comparison), f"{name}.html")


class Pyfunc:
    """A model as MLflow calls it."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def predict(self, frame: Any, params: dict[str, Any] | None = None) -> Array:
        """The score of each document, in the order of the rows."""
        X = frame[_names(self.model)].to_numpy(np.float32)
        return self.model.score(X, qid=frame["qid"].to_numpy(object)) if len(X) else np.empty(0)


def _load_pyfunc(path: str) -> Pyfunc:
    return Pyfunc(Model.load(path))


def _names(model: Model) -> list[str]:
    return list(model.feature_names or (str(l + 1) for l in range(model.n_features)))


def _plain(text: str) -> str:
    """A name of a metric as MLflow takes it: letters, digits, and _ - . : / and blanks."""
    return "".join(letter if letter.isalnum() or letter in "_-. :/" else "_" for letter in text)
