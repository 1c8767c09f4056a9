"""Click models: how users examine a results page, and which documents attract them.

    >>> from podium.clicks.log.click_log import ClickLog
    >>> pages = [("q", ["a", "b"], [1]), ("q", ["b", "a"], [1]), ("q", ["a", "b"], [])]
    >>> fitted = fit(ClickLog.from_pages(pages), "dctr")
    >>> fitted.relevance().tolist()
    [0.4, 0.4]

A click model is a frozen value; `fit` gives its parameters for a log. All of them are probabilities, each with `prior`
pseudo-counts of successes and as many of failures, so without data a parameter is ½. `prior=0` is maximum likelihood.
Fitting maximises J = log-likelihood + prior · Σ (log p + log(1 − p)) over all parameters.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base import archive
from podium.base.arguments import random_numbers
from podium.base.arrays import AnyArray, Array, Bytes, Int32s, Ints
from podium.base.errors import DataError, ModelFileError, PodiumWarning, counted
from podium.base.progress import Progress, quiet
from podium.base.registry import Named, param
from podium.base.shown import Shown, ShownTable, Value
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.log.click_log import ClickLog, check_log
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled

Params = dict[str, Array]

FORMAT = 1
_KIND = "podium click model"


@dataclass(frozen=True)
class Predicted:
    """Predicted probabilities of each impression of a log."""

    conditional: Array  # (I,) P(click | the clicks above it)
    marginal: Array  # (I,) P(click), whatever is clicked above
    examined: Array  # (I,) examination probability, whatever is clicked above


@dataclass(frozen=True, repr=False)
class ClickModel(Named):
    """Click model; its fields are its parameters."""

    kind: ClassVar[str] = "click model"
    home: ClassVar[str] = "podium.clicks.models"
    per_pair: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters of each pair (query, document); the others are shared."""
    splits_products: ClassVar[bool] = False
    """Whether clicks identify only products of attractiveness and examination, so that documents must change ranks."""

    prior: float = param(1.0, least=0.0)
    """Pseudo-count of each probability, for both outcomes: the larger, the nearer to ½."""

    @property
    def consistent(self) -> bool:
        """Whether the fit is a consistent estimate of the parameters."""
        return True

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        """Estimate the parameters for a folded log; also gives the objective J of each iterate that was kept.

        `log`: pages in which equal ones are folded into one with a count.
        `progress`: called after each iteration with the part that is done, from 0 to 1.
        """
        raise NotImplementedError

    def predict(self, params: Params, pairs: AnyArray, log: ClickLog) -> Predicted:
        """Predict a log. `pairs` are the fitted pairs of its impressions; unknown ones are the last.

        `params`: arrays of the model's probabilities, by name.
        `log`: the pages to predict; clicks above an impression are conditions of its probability.
        """
        raise NotImplementedError

    def draw(self, params: Params, pairs: AnyArray, log: ClickLog, uniform: Array) -> Bytes:
        """Draw clicks on the pages of a log, from one uniform number for each impression.

        `params`: arrays of the model's probabilities, by name.
        `pairs`: the fitted pair of each impression (I,); unknown ones are the last.
        `log`: the pages to click on; its own clicks do not matter.
        `uniform`: a random number within 0 and 1 for each impression (I,).
        """
        raise NotImplementedError

    def relevance(self, params: Params) -> Array:
        """Relevance of each pair, which orders documents; one number if all are alike.

        `params`: arrays of the model's probabilities, by name.
        """  # (U,) or (1,)
        raise NotImplementedError

    def attractiveness(self, params: Params) -> Array:
        """Probability of a click on each pair at rank 1; one number if all are alike.

        `params`: arrays of the model's probabilities, by name.
        """
        return self.relevance(params)

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        """Parameters for simulation, from the attractiveness of pairs and an examination curve (R,).

        `attractiveness`: probability of a click on each pair if it is examined (U,).
        `curve`: examination probability of ranks 1, 2, … (R,).
        """
        raise NotImplementedError

    def usable(self, log: ClickLog) -> ClickLog:
        """Log without the clicks that have probability 0 in this model.

        `log`: the pages to learn from or to predict.
        """
        return log

    def fit(self, log: ClickLog, *, progress: Progress = quiet) -> Fitted:
        """Estimate the parameters from a log.

        `log`: the pages to learn from.
        `progress`: called after each iteration with the part that is done, from 0 to 1.
        """
        if log.n_impressions == 0:
            raise DataError("the log has no impressions; a click model needs some pages.", where=log.source)
        used = self.usable(log)
        ignored = int(log.clicks.sum()) - int(used.clicks.sum())
        folded = used.folded
        params, history = self.estimate(folded, progress=progress)
        return _fitted(self, params, folded, history=history, info={"ignored_clicks": ignored})


def fit(log: ClickLog, model: ClickModel | str) -> Fitted:
    """Fit a click model, given as a value or by name: `fit(log, "ubm(prior=0.01)")`.

    `log`: the pages to learn from.
    `model`: a click model, or its text, such as `pbm`.
    """
    check_log(log)
    return (ClickModel.parse(model) if isinstance(model, str) else model).fit(log)


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(Shown):
    """Fitted click model: its parameters for the pairs of a log."""

    model: ClickModel  # kind of model, with its priors
    params: Params  # estimated probabilities, arrays by name
    pair_query: Int32s  # (U,) ascending
    query_ids: AnyArray  # (Q,) text, ascending
    document_ids: AnyArray  # (U,) text, ascending within a query
    impressions: Array  # (U,) how often each pair was shown
    clicks: Array  # (U,) how often it was clicked; the satisfaction of a pair without clicks is only the prior's
    examined: Array  # (R,) the mean examination probability of a rank; NaN if it was not shown
    components: Ints  # (R,) ranks with the same number had pairs in common; 0 if it was not shown
    history: Array  # the objective J of each iterate that was kept, the last of the result
    info: dict[str, Any]  # record of the fit, as JSON

    @property
    def n_pairs(self) -> int:
        return len(self.pair_query)

    def relevance(self, data: Dataset | None = None) -> Array:
        """Relevance of each pair, or of each row of a dataset; NaN for rows that the log does not have.

        `data`: a dataset with query and document ids, those of the log; None gives the pairs of the log (U,).
        """
        own = np.broadcast_to(self.model.relevance(self.params), self.n_pairs).copy()
        if data is None:
            return own
        if data.query_ids is None or data.document_ids is None:
            raise DataError("clicks are joined by ids; this data lacks query or document ids.", where=data.source)
        return np.append(own, np.nan)[self.pairs_of(data.query_ids[data.query_index], data.document_ids)]

    def attractiveness(self) -> Array:
        """Probability of a click on each pair at rank 1."""  # (U,)
        return np.broadcast_to(self.model.attractiveness(self.params), self.n_pairs).copy()

    def examination(self) -> Array:
        """Examination probability of each rank, relative to rank 1; a ratio above 1 can occur.

        NaN, with a warning, for ranks that cannot be compared with rank 1, because no document was shown at both, even
        by a chain of others.
        """  # (R,)
        relative: Array = self.examined / self.examined[0]
        if not self.model.splits_products:
            return relative
        apart = np.flatnonzero((self.components != self.components[0]) & (self.components > 0))
        if len(apart):
            ranks = ", ".join(map(str, apart[:5] + 1)) + (", …" if len(apart) > 5 else "")
            warnings.warn(
                f"{self.model}: no document was shown both at rank 1 and at rank {ranks}, even by a chain of ranks "
                "between, so examination there cannot be told from relevance. Show documents at changing ranks.",
                PodiumWarning,
                stacklevel=2,
            )
        return np.where(self.components == self.components[0], relative, np.nan)

    def pairs_of(self, query_ids: Iterable[object], document_ids: Iterable[object]) -> Ints:
        """Number of each pair, given as texts; n_pairs if it was not in the log.

        `query_ids`: query of each pair.
        `document_ids`: document of each pair.
        """
        pairs = self._as_log().find_pairs(query_ids, document_ids)
        return np.where(pairs < 0, self.n_pairs, pairs)

    def predict(self, log: ClickLog) -> Predicted:
        """Predict each impression of a log; pairs that the model does not know have the prior.

        `log`: pages that the model need not have seen.
        """
        return self.model.predict(self.params, self._pairs_in(log), log)

    def relevance_in(self, log: ClickLog) -> Array:
        """Relevance of each impression's document; that of the prior for pairs that the model does not know.

        `log`: pages that the model need not have seen.
        """
        params = {name: unseen(x) if name in self.model.per_pair else x for name, x in self.params.items()}
        return np.broadcast_to(self.model.relevance(params), self.n_pairs + 1)[self._pairs_in(log)]

    def draw(self, log: ClickLog, *, seed: int = 0) -> ClickLog:
        """Draw clicks on the pages of a log from the model.

        `log`: pages to click on; its own clicks do not matter.
        `seed`: the same seed gives the same clicks.
        """
        uniform = random_numbers(seed).random(log.n_impressions)
        return log.with_clicks(self.model.draw(self.params, self._pairs_in(log), log, uniform))

    def _pairs_in(self, log: ClickLog) -> Int32s:
        """Fitted pair of each impression of a log."""
        pairs = self.pairs_of(log.query_ids[log.pair_query], log.document_ids)
        return pairs.astype(np.int32)[log.pairs]

    def _as_log(self) -> ClickLog:
        """Log of the pairs without any page."""
        none = np.zeros(0, np.int32)
        return ClickLog(
            none, np.zeros(0, np.uint8), np.zeros(1, np.int64), none, self.pair_query, self.query_ids, self.document_ids
        )

    def __repr__(self) -> str:
        return f"Fitted({self.model}, {self.n_pairs} pairs)"

    def _shown(self) -> ShownTable:
        """A row per rank: its examination probability."""
        rows: list[list[Value]] = [[rank, float(value)] for rank, value in enumerate(self.examined, 1)]
        shown = counted(int(self.impressions.sum()), "impression")
        notes = [f"{counted(self.n_pairs, 'pair')} of query and document, {shown}; relevance() has theirs"]
        return ShownTable(f"Click model {self.model}", ["rank", "examined"], rows, notes=notes, bars=1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file; the same model gives the same bytes.

        `path`: the file to write; one that exists is replaced.
        """
        arrays = {f"params/{name}": values for name, values in self.params.items()}
        arrays |= {name: getattr(self, name) for name in _SAVED}
        for name in ("query_ids", "document_ids"):
            raw = [str(text).encode() for text in getattr(self, name)]
            arrays[f"{name}/bytes"] = np.frombuffer(b"".join(raw), np.uint8)
            arrays[f"{name}/ends"] = np.cumsum([len(text) for text in raw], dtype=np.int64)
        head = {"model": repr(self.model), "info": self.info}
        archive.write(path, _KIND, head, arrays, version=FORMAT)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Fitted:
        """Read a fitted click model. Files from untrusted sources are safe: they hold numbers and names, never code.

        `path`: a file that `save` wrote.
        """
        with archive.file_errors(path, _KIND, made_by="podium clicks fit -o"):
            head, arrays = archive.read(path, _KIND, version=FORMAT)
            texts = {name: _texts(arrays, name) for name in ("query_ids", "document_ids")}
            params = {k.removeprefix("params/"): v for k, v in arrays.items() if k.startswith("params/")}
            plain = {name: arrays[name] for name in _SAVED}
            loaded = cls(ClickModel.parse(head["model"]), params, info=dict(head["info"]), **plain, **texts)
            _try_out(loaded)
            return loaded


_SAVED = ("pair_query", "impressions", "clicks", "examined", "components", "history")


def _fitted(model: ClickModel, params: Params, log: ClickLog, *, history: list[float], info: dict[str, Any]) -> Fitted:
    ranks = log.ranks()
    impressions, clicks = tally(log)
    shown, looked = np.zeros((2, int(ranks.max())))
    _add_by_rank(ranks, log.offsets, log.page_counts, model.predict(params, log.pairs, log).examined, shown, looked)
    with np.errstate(invalid="ignore"):
        examined = looked / shown
    return Fitted(
        model, params, log.pair_query, log.query_ids, log.document_ids,
        impressions=impressions, clicks=clicks, examined=examined, components=parts_of_ranks(log),
        history=np.array(history), info=info,
    )  # fmt: skip


def tally(log: ClickLog) -> tuple[Array, Array]:
    """Impressions and clicks of each pair."""
    impressions, clicks = np.zeros(log.n_pairs), np.zeros(log.n_pairs)
    _tally(log.pairs, log.clicks, log.offsets, log.page_counts, impressions, clicks)
    return impressions, clicks


@compiled
def _tally(pairs: Int32s, clicks: Bytes, offsets: Ints, counts: Array, shown: Array, clicked: Array) -> None:
    for page in range(len(offsets) - 1):
        for i in range(offsets[page], offsets[page + 1]):
            shown[pairs[i]] += counts[page]
            if clicks[i]:
                clicked[pairs[i]] += counts[page]


@compiled
def _add_by_rank(ranks: Int32s, offsets: Ints, counts: Array, values: Array, shown: Array, total: Array) -> None:
    for page in range(len(offsets) - 1):
        for i in range(offsets[page], offsets[page + 1]):
            shown[ranks[i] - 1] += counts[page]
            total[ranks[i] - 1] += counts[page] * values[i]


def unseen(values: Array) -> Array:
    """Append the parameter of unknown pairs, ½."""
    return np.append(values, 0.5)


def prior_term(prior: float, x: Array) -> float:
    """Prior term of the objective: prior · Σ (log p + log(1 − p))."""
    if prior == 0.0:
        return 0.0
    with np.errstate(divide="ignore"):
        return prior * float((np.log(x) + np.log1p(-x)).sum())


def ratio(successes: ArrayLike, trials: ArrayLike, *, prior: float, otherwise: ArrayLike = 0.5) -> Array:
    """Smoothed ratio (successes + prior)/(trials + 2·prior); `otherwise` if there are no trials and no prior."""
    total = np.asarray(trials, np.float64) + 2.0 * prior
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(total > 0, (np.asarray(successes, np.float64) + prior) / total, otherwise)
    return np.clip(ratios, 0.0, 1.0)  # by rounding, sums of fractions may exceed 1


def _texts(arrays: dict[str, AnyArray], name: str) -> AnyArray:
    raw, ends = arrays[f"{name}/bytes"].tobytes(), arrays[f"{name}/ends"].tolist()
    texts = np.empty(len(ends), object)
    texts[:] = [raw[a:b].decode() for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    return texts


def _try_out(fitted: Fitted) -> None:
    """Predict one page, so that arrays that do not fit together are refused on loading."""
    log, n = fitted._as_log(), fitted.n_pairs
    sizes = {name: len(fitted.params[name]) for name in fitted.model.per_pair}
    sizes |= {"document_ids": len(fitted.document_ids), "impressions": len(fitted.impressions)}
    wrong = [name for name, size in sizes.items() if size != n]
    queries = fitted.pair_query
    if wrong or n == 0 or queries.min() < 0 or queries.max() >= len(fitted.query_ids) or not len(fitted.examined):
        raise ModelFileError("Its arrays do not fit together. Fit it again.")
    if any(not ((values >= 0) & (values <= 1)).all() for values in fitted.params.values()):
        raise ModelFileError("Its parameters are not probabilities. Fit it again.")
    pairs = np.zeros(1, np.int32)
    page = dataclasses.replace(
        log, pairs=pairs, clicks=np.zeros(1, np.uint8), offsets=np.array([0, 1]), page_query=queries[:1]
    )
    fitted.model.predict(fitted.params, pairs, page)
