"""Process that grows trees on its share of the queries: one machine of LightGBM's network.

`podium.distributed.cluster_boosting` starts one for every worker, because a network belongs to a whole process, and if
it hangs, the process must be killed. Standard input has lines of JSON: the setting, then {"grow": n} or {"text": n};
each is answered by a line on standard output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, PodiumError
from podium.base.json_process import Parent
from podium.data.dataset import Dataset
from podium.formats.cache.cache import is_cache, open_cache
from podium.formats.tables.table_rows import open_table
from podium.losses import Loss, sweep
from podium.metrics import Metric
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.grower import DETERMINISTIC
from podium.scorers.trees.lightgbm_data import for_lightgbm
from podium.solvers.boosting import Bag, for_leaves, grid, of_queries, updated
from podium.solvers.early_stopping import query_values

if TYPE_CHECKING:
    import lightgbm

SAMPLE = 200_000
"""Largest number of documents from which bins are found; the same on every machine."""


def main() -> None:
    """Answer the requests of standard input."""
    parent = Parent()
    share: Share | None = None
    while True:
        request = parent.receive()
        try:
            if share is None:
                share = Share(request)
                parent.send(ready=True)
            elif "grow" in request:
                parent.send(**share.grow(request["grow"]))
            else:
                parent.send(text=share.text(request["text"]))
        except PodiumError as error:
            parent.send(refused=str(error))
        except Exception as error:
            parent.send(error=f"{type(error).__name__}: {' '.join(str(error).split())}")


class Share:
    """Queries first:last of the training data, and the trees, which are equal on all machines."""

    def __init__(self, setting: dict[str, Any]) -> None:
        import lightgbm

        self.whole = _opened(setting["train"])
        self.first, self.last = setting["queries"]
        self.part = self.whole.select(np.arange(self.first, self.last))
        self.loss = Loss.parse(setting["loss"])
        rng = np.random.default_rng(setting["seed"])
        settings = {**DETERMINISTIC, **setting["settings"], "seed": int(rng.integers(2**31)), **setting["network"]}
        self.bag, self.grid = Bag(self.whole.sizes, setting["bagging_fraction"], rng), grid(settings)
        # in memory: on a network, LightGBM finds other bins if it gets rows one by one
        bins = _binned(self.whole.select(sample(self.whole)).dense(), None, settings)
        train = _binned(self.part, bins, settings)
        self.booster = lightgbm.Booster(settings | setting["of_features"], train)  # joins the network, then bins
        self.valid, self.metric, self.rounds = None, None, 0
        self.losses: Array | None = None  # of each query, before the last tree in which it was drawn
        self.max_bin, self.usual = int(settings["max_bin"]), 0.0
        if setting["valid"] is not None:
            held = _opened(setting["valid"])
            self.valid = held.select(np.arange(*setting["valid_queries"]))
            self.metric = Metric.parse(setting["metric"])
            self.booster.add_valid(_binned(self.valid, train, settings).construct(), "valid")

    def grow(self, rounds: int) -> dict[str, Any]:
        """Grow trees. Returns, for each, this share's loss before it, and the validation queries' metric after it."""
        values: list[float] = []
        measures: list[list[float | None]] = []
        for _ in range(rounds):
            if self._update():
                return {"values": values, "measures": measures, "ended": True, "usual": self.usual}
            self.rounds += 1
            values.append(0.0 if self.losses is None else float(self.losses.sum()))
            if self.valid is not None:
                measures.append(self._measures())
        return {"values": values, "measures": measures, "ended": False, "usual": self.usual}

    def _update(self) -> bool:
        """Grow a tree; True if no split was found."""
        try:
            return bool(self.booster.update(fobj=lambda outputs, _: self._derivatives(outputs)))
        except Exception as error:
            if "_count) > (0)" not in str(error):
                raise
            raise IncompatibleError(
                "a leaf has so little curvature that LightGBM's network counts no document in it. Set "
                f"min_sum_hessian_in_leaf higher: {enough(self.max_bin)} documents have {self.usual:.3g}; or "
                "min_data_in_leaf=1."
            ) from error

    def text(self, rounds: int) -> str:
        """Text of the first trees."""
        return lightgbm_text.trim(self.booster.model_to_string(num_iteration=rounds)).decode()

    def _derivatives(self, scores: Array) -> tuple[Array, Array]:
        loss = self.loss.resampled(self.rounds + 1)
        drawn = self.bag.drawn()  # from all queries, as on one machine
        if drawn is not None:
            drawn = drawn[(drawn >= self.first) & (drawn < self.last)] - self.first
        swept = None if self.losses is None else drawn
        got = sweep(loss, scores, self.part, constants=loss.constants(self.whole), queries=swept)
        self.losses = updated(self.losses, got, swept)
        self.usual = max(self.usual, enough(self.max_bin) * float(np.mean(got.curvature)))
        gradient, curvature = got.gradient, got.curvature
        if drawn is not None and swept is None:
            kept = of_queries(drawn, self.part.sizes)
            gradient, curvature = gradient * kept, curvature * kept
        return for_leaves(gradient, curvature, self.grid)

    def _measures(self) -> list[float | None]:
        seen: list[Array] = []

        def look(outputs: Array, _: object) -> tuple[str, float, bool]:
            seen.append(np.array(outputs, np.float64))
            return "seen", 0.0, True

        assert self.valid is not None
        assert self.metric is not None
        self.booster.eval_valid(look)
        values = query_values(self.metric, seen[0], self.valid)
        return [None if np.isnan(value) else float(value) for value in values]


def enough(max_bin: int) -> int:
    """Size of a leaf from which LightGBM's rounding of the counts of each bin does not matter."""
    return max_bin // 2 + 1


def sample(data: Dataset) -> Ints:
    """Queries from which bins are found: all, or a random sample with SAMPLE documents."""
    if data.n_documents <= SAMPLE:
        return np.arange(data.n_queries)
    order = np.random.default_rng(0).permutation(data.n_queries)
    return np.sort(order[: max(int(np.searchsorted(np.cumsum(data.sizes[order]), SAMPLE)), 1)])


def _opened(place: str) -> Dataset:
    return (open_cache(place) if is_cache(place) else open_table(place)).grouped()


def _binned(data: Dataset, reference: lightgbm.Dataset | None, settings: dict[str, Any]) -> lightgbm.Dataset:
    import lightgbm

    zeros = np.zeros(data.n_documents, np.float32)
    return lightgbm.Dataset(for_lightgbm(data.features), label=zeros, reference=reference, params=settings)


if __name__ == "__main__":
    main()
