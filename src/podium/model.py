"""Model: a fitted, immutable ranker, saved as one file of JSON and plain arrays: versioned, checksummed, without code.

model.podium (an uncompressed zip archive)
├── model.json      format version, learner, features, training record, and each array's type, shape and hash
└── arrays/NAME     the bytes of each array
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base import archive
from podium.base.arrays import Array, Ints
from podium.base.columns import float_numbers
from podium.base.errors import DataError, ModelFileError, ParameterError
from podium.base.registry import register
from podium.base.shown import facts_html
from podium.data.categories import Categories, aligned_categories, categories_of
from podium.data.dataset import Dataset
from podium.data.inputs import T, align_features, labelled_table, unlabelled_table
from podium.data.seen_queries import Seen, seen
from podium.data.table import Table
from podium.jit import sorting as ranking
from podium.learner import Learned, Learner
from podium.scorers.forms import Form, LinearForm
from podium.transforms import Identity, State, Transform

if TYPE_CHECKING:
    from podium.distributions.temperature import Temperature
    from podium.odds import Odds
    from podium.scorers import Params, Prepared
    from podium.solvers import Watch

FORMAT = 1
_FEW = 2**20  # features that a file of any size may claim
_KIND = "podium model"


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted learner and the transform of its features: scores, ranks, and probabilities of ranks."""

    learner: Learner  # method with its parameters
    params: Params  # what was learned, as arrays by name
    state: State  # what the transform learned, as arrays by name
    n_features: int  # number of features of a document
    feature_names: tuple[str, ...] | None  # names of the features, if the data had some
    info: Mapping[str, Any]  # record of the training, as JSON; read-only
    categories: Categories | None = None  # values behind the codes of features of categories, by column

    def __post_init__(self) -> None:
        object.__setattr__(self, "info", MappingProxyType(dict(self.info)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self), tuple((values | {"info": dict(self.info)}).values())

    def score(self, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Array:
        """The score of each document, in the row order of the data; larger is better.

        `data`: a Dataset, a frame with the columns that the model was trained on, or an array of features (N, d).
        `qid`: query id of each row of an array (N,); with neither it nor `group`, all rows are one query.
        `group`: sizes of consecutive queries of an array, instead of `qid`.
        """  # (N,)
        table = self.table(data, qid=qid, group=group)
        return table.from_grouped(self._scores(table.grouped()))

    def rank(self, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Ints:
        """The dense rank of each document in its query: 1 is the top, ties share a rank (1, 2, 2, 3).

        Arguments and row order are those of `score`.
        """  # (N,)
        table = self.table(data, qid=qid, group=group)
        grouped = table.grouped()
        scores, offsets = self._scores(grouped), grouped.offsets
        parts = [ranking.dense_ranks(scores[a:b]) for a, b in itertools.pairwise(offsets)]
        return table.from_grouped(np.concatenate(parts) if parts else np.empty(0, np.int64))

    def spread(self, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Array:
        """The standard deviation of each score: over the members of a `bagged` model, or of the grade by `c-crf`.

        Arguments and row order are those of `score`.
        """  # (N,)
        table = self.table(data, qid=qid, group=group)
        return table.from_grouped(
            self.learner.spread(self.params, self.learner.transform.apply(self.state, table.grouped()))
        )

    def member_grades(self, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Array:
        """The grade of each document by each member of a `bagged` model, within the grades of its training data.

        Arguments and row order are those of `score`; base scores of a dataset are part of the members'.
        """  # (members, N)
        table = self.table(data, qid=qid, group=group)
        grades = self.learner.member_grades(self.params, self.learner.transform.apply(self.state, table.grouped()))
        return np.asarray(table.from_grouped(grades.T).T)

    def grades(self, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Array:
        """The predicted grade of each document, one of those in the training data.

        By the thresholds of `with_thresholds`, if there are any; else as prank, oc-svm and mcrank have learned them.
        Arguments and row order are those of `score`.
        """  # (N,)
        grouped = (table := self.table(data, qid=qid, group=group)).grouped()
        if "thresholds" in self.info:
            from podium.algorithms.thresholds import grade_of, thresholds_of

            return table.from_grouped(grade_of(self._scores(grouped), thresholds_of(self.info["thresholds"])))
        return table.from_grouped(self.learner.grades(self.params, self.learner.transform.apply(self.state, grouped)))

    def with_thresholds(self, data: Any) -> Model:
        """The same model with thresholds between grades, learned from labelled `data`, which `grades` then uses.

        They have the smallest sum of absolute errors. Take data that the model was not trained on, and methods whose
        scores mean the same in every query, such as regression.
        """
        from podium.algorithms.thresholds import best_thresholds

        table = labelled_table(data)
        if table.labels is None or np.isnan(table.labels).all():
            raise DataError("thresholds are learned from labels, and no document has one.", where=table.source)
        judged = ~np.isnan(table.labels)
        learned = best_thresholds(self.score(table)[judged], table.labels[judged])
        return self.with_info(thresholds={name: array.tolist() for name, array in learned.items()})

    def table(self, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Table:
        """The documents to score, with the model's features; arguments are those of `score`."""
        if not isinstance(data, Table) or qid is not None or group is not None:
            data = unlabelled_table(
                data,
                qid=qid,
                group=group,
                features=self.feature_names,
                query_features=self.query_columns,
                per_query=self.learner.per_query,
                categorical=self.named_categories(),
            )
        table: Table = data
        return self.align_features(table)

    def named_categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each feature that has them, by its name; empty if features have no names."""
        names = self.feature_names
        return {} if names is None else {names[column]: kept for column, kept in (self.categories or {}).items()}

    def _scores(self, data: Dataset) -> Array:
        """Scores of grouped data that has the model's features."""
        scores = self._prepared(self.learner.transform.apply(self.state, data))
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            query = data.query_name(int(data.query_index[row]))
            raise DataError(
                f"document {data.document_name(row)} of query {query} has the score {scores[row]}. "
                "Check its features, and that the model is the one you trained.",
                where=data.source,
            )
        return scores

    def seen(self, data: Table) -> Seen:
        """How many queries of the table `data` the model was trained on, of those that its sample of them can tell."""
        return seen(self.info.get("queries"), self.align_features(data))

    def with_info(self, **more: object) -> Model:
        """The same model with `more` entries in `info`: values of JSON by name."""
        extended = replace(self, info={**self.info, **more})
        if "_prepared" in self.__dict__:  # trees are parsed once
            extended.__dict__["_prepared"] = self._prepared
        return extended

    @functools.cached_property
    def _prepared(self) -> Prepared:
        return self.learner.prepare(self.params, self._width)

    @property
    def _width(self) -> int:
        """Number of transformed features."""
        return self.learner.transform.apply(self.state, self._empty).n_features

    @property
    def _empty(self) -> Dataset:
        """A dataset without documents that has the model's features."""
        return Dataset(np.zeros((0, self.n_features), np.float32), None, np.zeros(1, np.int64))

    def zeros(self, n_documents: int) -> Dataset:
        """A query of `n_documents`, whose features and its own are all 0, to try the model out."""
        names = self.query_columns
        features, offsets = np.zeros((n_documents, self.n_features), np.float32), np.array([0, n_documents])
        about = np.zeros((1, len(names)))
        return Dataset(features, None, offsets, query_features=about, query_feature_names=names)

    @functools.cached_property
    def query_columns(self) -> tuple[str, ...]:
        """Query features that the model cannot score without, by name."""
        return self.learner.query_columns(self.params, self.state)

    def form(self) -> Form | None:
        """Form of the model over transformed features (linear, trees, …); None if it has none of them."""
        return self.learner.form(self.params, self._width)

    def coefficients(self) -> Array | None:
        """Weight of each feature, in the feature's unit; None if scores are not linear in the features."""  # (d,)
        form, transform = self.form(), self.learner.transform
        if transform.per_query or not isinstance(form, LinearForm):
            return None
        affine = transform.affine(self.state, self._empty)
        if affine is None:
            return None
        sources = transform.sources(self.state, self.n_features)
        return np.bincount(sources, form.weights * affine.scale, minlength=self.n_features).astype(np.float64)

    def distribution(
        self,
        data: Any,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        with_ties: bool = False,
        scores: ArrayLike | None = None,
    ) -> Odds:
        """Odds: the probability distribution of each query's ranking, with P(first), expected ranks and intervals.

        It is reverse Plackett–Luce, or Plackett–Luce if that fits validation data clearly better, calibrated by a
        temperature fitted there. `with_ties` asks for the model's own distribution over rankings with ties (pmop-*,
        pairties-*), which is not calibrated. `Odds.how` describes the distribution in words. `scores` are the model's
        scores of this data, if you have them already. The other arguments are those of `score`.
        """
        from podium.odds import odds_of

        table = self.table(data, qid=qid, group=group)
        grouped = table.grouped()
        values = self._scores(grouped) if scores is None else table.to_grouped(_check_scores(scores, table))
        odds = odds_of(self.learner, values, grouped.offsets, fitted=self._temperature(), with_ties=with_ties)
        return odds if grouped is table else replace(odds, rows=grouped.rows)

    def _temperature(self) -> Temperature | None:
        """Distribution and temperature fitted on validation data; None if there was none."""
        if "temperature" not in self.info:
            return None
        from podium.distributions.temperature import TRIED, Temperature

        distributions = {repr(distribution): distribution for distribution in TRIED}
        return Temperature(distributions[self.info["distribution"]], self.info["temperature"])

    def __repr__(self) -> str:
        valid = self.info.get("valid")
        quality = f", {self.info.get('metric')} {valid:.4f} on validation data" if isinstance(valid, float) else ""
        return f"Model({self.learner}, {self.n_features} features{quality})"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        valid, trials = self.info.get("valid"), self.info.get("trials")
        facts = {"learner": str(self.learner), "features": str(self.n_features)}
        facts["trials"] = str(len(trials) or "") if isinstance(trials, list) else ""
        facts[f"{self.info.get('metric')} on validation data"] = f"{valid:.4f}" if isinstance(valid, float) else ""
        return facts_html("Model", facts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to the file `path`, usually NAME.podium; equal models give equal bytes."""
        archive.write(path, _KIND, *self.parts(), version=FORMAT)

    def parts(self) -> tuple[dict[str, Any], Params]:
        """The content of a model file: a description for JSON, and arrays."""
        arrays = {f"params/{k}": v for k, v in self.params.items()} | {f"state/{k}": v for k, v in self.state.items()}
        head = {
            "learner": repr(self.learner),
            "n_features": self.n_features,
            "feature_names": self.feature_names,
            "info": dict(self.info),
        }
        if self.categories:
            head["categories"] = {str(column): list(kept) for column, kept in self.categories.items()}
        return head, arrays

    @classmethod
    def of_parts(cls, head: Mapping[str, Any], arrays: Params, *, most_features: int) -> Model:
        """Model of `parts`, `head` and `arrays`, from a file that nobody vouches for, with `most_features` at most."""
        n_features = int(head["n_features"])
        if not 0 < n_features <= most_features:
            raise ModelFileError(f"It claims {n_features} features, which is not what such a file can hold.")
        names = head["feature_names"]
        return cls(
            learner=Learner.parse(head["learner"]),
            params=_under("params/", arrays),
            state=_under("state/", arrays),
            n_features=n_features,
            feature_names=None if names is None else tuple(map(str, names)),
            info=dict(head["info"]),
            categories=categories_of(head.get("categories"), n_features),
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Model:
        """Read the model file at `path`. An untrusted file is safe to load: it holds numbers and names, never code."""
        with archive.file_errors(path, _KIND, made_by="podium train -o"):
            return try_out(_read(path))

    def align_features(self, data: T) -> T:
        """The table `data` with the model's features in its order: by name if both have names, else by position."""
        data = align_features(data, self.feature_names)
        if data.n_features != self.n_features:
            raise DataError(
                f"{data.n_features} features, but the model was trained with {self.n_features}. "
                "Score data with the same features in the same order.",
                where=data.source,
            )
        return aligned_categories(data, self.categories)


load = Model.load


@register
class SavedModel(Learner):
    """A saved model as a method: it is not trained again, whatever the training data.

    Use it for: comparing an existing model, or one from `podium import`, with methods that are trained.
    """

    file: str = ""
    """Model file of `podium train` or `podium import`."""
    transform: Transform = Identity()
    name = "model"

    def check(self, data: Dataset) -> None:
        if not self.file:
            raise ParameterError("model: give a file, e.g. 'model(file=ours.podium)'.")
        model = Model.load(self.file)
        if model.align_features(data) is not data:
            raise DataError(
                f"the features are in another order than those of {self.file}. Train or import it with these.",
                where=data.source,
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        model = Model.load(self.file)
        record = {"stopped": "not trained", "iterations": 0, "file": self.file}
        return Learned(model.learner, model.params, record, state=model.state)

    def digest(self) -> str:
        return hashlib.sha256(Path(self.file).read_bytes()).hexdigest()


def _check_scores(scores: ArrayLike, data: Table) -> Array:
    """Scores from the caller as an array; raises a clear error unless there is one finite number per document."""
    values = float_numbers(scores, "score", where=data.source)
    if len(values) != data.n_documents:
        raise DataError(f"{len(values)} scores for {data.n_documents} documents.", where=data.source)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise DataError(f"row {bad[0]}: the score is {values[bad[0]]}, no finite number.", where=data.source)
    return values


def _read(path: str | PathLike[str]) -> Model:
    head, arrays = archive.read(path, _KIND, version=FORMAT)
    return Model.of_parts(head, arrays, most_features=max(os.path.getsize(path), _FEW))


def _under(folder: str, arrays: Params) -> Params:
    return {name.removeprefix(folder): array for name, array in arrays.items() if name.startswith(folder)}


def try_out(model: Model) -> Model:
    """Score one document of zeros, so that parts that do not fit raise an error now and not in use."""
    scores = model._prepared  # refuses members that claim too much
    zeros = model.zeros(1)
    if model.feature_names is not None and len(model.feature_names) != model.n_features:
        raise ModelFileError(f"It names {len(model.feature_names)} features of {model.n_features}.")
    if "temperature" in model.info:
        _check_temperature(model.info["temperature"], model.info.get("distribution"))
    with np.errstate(all="ignore"):
        score = scores(model.learner.transform.apply(model.state, zeros))
    if score.shape != (1,) or not np.isfinite(score).all():
        raise ModelFileError("Its parameters are not finite numbers.")
    return model


def _check_temperature(temperature: object, distribution: object) -> None:
    """Raise a clear error unless odds can be computed with this temperature and distribution."""
    from podium.distributions.temperature import TRIED

    if not isinstance(temperature, float) or not 1e-100 < temperature < 1e100:
        raise ModelFileError(
            f"Its temperature is {temperature!r}; a number from 1e-100 to 1e100 is expected. Train it again."
        )
    names = [repr(tried) for tried in TRIED]
    if distribution not in names:
        raise ModelFileError(f"Its distribution is {distribution!r}; {' or '.join(names)} is expected. Train it again.")
