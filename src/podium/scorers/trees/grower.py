"""Grow LightGBM trees on custom gradients, with the same bits on every run and for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Bytes, is_sparse
from podium.base.errors import IncompatibleError
from podium.base.threads import openmp_threads
from podium.data.dataset import Dataset
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.grown_categories import numeric_text
from podium.scorers.trees.lightgbm_data import binned, for_lightgbm

if TYPE_CHECKING:
    import lightgbm


class Bins:
    """Features of training and validation data, binned once for all trees."""

    def __init__(
        self,
        data: Dataset,
        valid: Dataset | None,
        *,
        of_features: dict[str, Any] | None = None,
        start: Callable[[Dataset], Array] | None = None,
        **settings: Any,
    ) -> None:
        """Bin the features. Trees add to the scores of `start`, or to 0."""
        threads = openmp_threads() if data.n_documents * data.n_features > _WORTH_THREADS else 1
        self.settings: dict[str, Any] = {**DETERMINISTIC, "num_threads": threads, **settings}
        self.of_features = of_features or {}  # settings with an entry per feature, which bins do not have
        self.n_features = data.n_features
        self.n_documents = data.n_documents
        with self.memory():
            self.categorical = sorted(data.categories or ())
            if is_sparse(data.features):
                self.train = self._binned(data, None)
            else:
                self.train = binned(data.features, self.settings, self.categorical)
            self.valid: Any = None if valid is None else self._binned(valid, self.train)
        if start is not None:
            self.train.set_init_score(start(data))
            if valid is not None and self.valid is not None:
                self.valid.set_init_score(start(valid))
        self.can_split = any(self.train.feature_num_bin(feature) for feature in range(data.n_features))

    def _binned(self, data: Dataset, reference: lightgbm.Dataset | None) -> lightgbm.Dataset:
        import lightgbm

        zeros, features = np.zeros(data.n_documents, np.float32), for_lightgbm(data.features)
        return lightgbm.Dataset(
            features, label=zeros, reference=reference, params=self.settings, categorical_feature=self.categorical
        ).construct()

    @contextmanager
    def memory(self) -> Iterator[None]:
        """Raise a clear error if memory runs out."""
        from lightgbm.basic import LightGBMError

        try:
            yield
        except (MemoryError, LightGBMError) as error:
            if isinstance(error, LightGBMError) and "bad_alloc" not in str(error):
                raise
            most = self.settings.get("max_bin", 255)
            size = self.n_documents * self.n_features * (0.5 if most < 16 else 1 if most < 256 else 2)
            fewer = ", or set max_bin=15, which halves that" if most >= 16 and "max_bin" in self.settings else ""
            raise IncompatibleError(
                f"memory ended while trees grew: {self.n_documents} documents × {self.n_features} features in {most} "
                f"bins take {size / 1e6:.0f} MB, finding them some 100 MB more, and growing trees some 100 bytes a "
                f"document. Allow more memory{fewer}, or use fewer documents."
            ) from error


class Grower:
    """A sum of trees that grows by one tree at a time."""

    def __init__(self, bins: Bins) -> None:
        import lightgbm

        self._bins = bins
        with bins.memory():
            # LightGBM refuses to start if no feature can be split.
            self._booster = lightgbm.Booster(bins.settings | bins.of_features, bins.train) if bins.can_split else None
            if self._booster is not None and bins.valid is not None:
                self._booster.add_valid(bins.valid, "valid")
        if self._booster is not None and "drop_rate" in bins.settings:
            # LightGBM does not set whether trees were dropped for the first round, and then draws other random numbers
            self._outputs_of("train")
            self._booster.reset_parameter({"drop_rate": bins.settings["drop_rate"]})

    def grow(self, derivatives: Callable[[Array], tuple[Array, Array]]) -> bool:
        """Add learning rate × a tree whose leaves are −Σ gradient / Σ curvature; False if there was no split.

        `derivatives` computes both from the current outputs.
        """
        with self._bins.memory():
            return self._booster is not None and not self._booster.update(fobj=lambda outputs, _: derivatives(outputs))

    def outputs(self) -> Array:
        """Current sum of the trees for each training document."""  # (N,)
        return self._outputs_of("train")

    def valid_outputs(self) -> Array:
        """Current sum of the trees for each validation document."""
        return self._outputs_of("valid")

    def text(self, rounds: int) -> Bytes:
        """LightGBM's text of the first `rounds` trees, the parameter of `Trees`."""
        if self._booster is None or rounds == 0:
            return np.frombuffer(lightgbm_text.constant(self._bins.n_features), np.uint8)
        text = self._booster.model_to_string(num_iteration=rounds)
        if self._bins.categorical:
            return np.frombuffer(numeric_text(text, self._bins.n_features), np.uint8)
        return np.frombuffer(lightgbm_text.trim(text), np.uint8)

    def _outputs_of(self, which: str) -> Array:
        """LightGBM's outputs, which it passes to evaluation functions only."""
        copies: list[Array] = []

        def copy(outputs: Array, _: lightgbm.Dataset) -> tuple[str, float, bool]:
            copies.append(np.array(outputs, np.float64))
            return "copied", 0.0, True

        if self._booster is None:
            data = self._bins.train if which == "train" else self._bins.valid
            return np.zeros(data.num_data())
        (self._booster.eval_train if which == "train" else self._booster.eval_valid)(copy)
        return copies[0]


_WORTH_THREADS = 2**20
"""Feature values from which on threads pay; with fewer, they wait for each other longer than they work."""
DETERMINISTIC = {
    "objective": "none",
    "boost_from_average": False,
    "min_sum_hessian_in_leaf": 1e-3,
    "deterministic": True,
    "force_col_wise": True,  # histograms are summed feature by feature, whatever the number of threads
    "verbosity": -1,
}
