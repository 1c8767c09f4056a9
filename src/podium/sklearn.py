"""Ranker: any podium method as a scikit-learn estimator. Rows may be in any order; `qid` has the query of each row.

    >>> import numpy as np
    >>> from podium.sklearn import Ranker
    >>> X, y, qid = np.arange(8.0).reshape(8, 1), [0, 1, 0, 1, 0, 1, 0, 1], [1, 1, 2, 2, 3, 3, 4, 4]
    >>> Ranker("ranknet", penalty=0.1).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0

scikit-learn's metadata routing passes `qid` along with the rows: fit, predict and score request it, so that

    sklearn.set_config(enable_metadata_routing=True)
    cross_val_score(Ranker(), X, y, cv=GroupKFold(5), params={"qid": qid, "groups": qid})
    GridSearchCV(Ranker("listnet"), {"penalty": [0.01, 0.1]}, cv=GroupKFold(5)).fit(X, y, qid=qid, groups=qid)

and a `Pipeline` that ends in a ranker need nothing more. (A pipeline within cross_val_score or GridSearchCV needs
scikit-learn 1.8, the first to route the metadata of its score.) `GroupKFold` with the queries as groups never splits
a query.

As in LGBMRanker, `fit` also takes `group`, the sizes of consecutive queries, and `eval_set` with `eval_group` (or
`eval_qid`): validation data for early stopping, for tuning, and for calibrated probabilities of ranks. Parameters may
have the names of LightGBM, XGBoost and CatBoost, if they mean the same: `Ranker(n_estimators=100)` has 100 rounds.
"""

from __future__ import annotations

import numbers
import warnings
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import check_row_order, float_numbers, text_ids
from podium.base.errors import DataError, MissingPackageError, ParameterError
from podium.base.registry import split_call, write
from podium.data.array_parts import feature_array
from podium.data.categories import with_categories
from podium.data.dataset import Dataset
from podium.data.frames import coded_frame, frame_table, refuse_text, weighted_rows
from podium.data.inputs import is_frame
from podium.data.table import Table
from podium.evaluation.evaluate import evaluate
from podium.explanation.importance import importance
from podium.imports.fit_arguments import fit_arguments, validation_arrays
from podium.methods import method
from podium.model import Model
from podium.training import train

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingPackageError("scikit-learn", "podium.sklearn", "sklearn") from None


class Ranker(BaseEstimator):  # type: ignore[misc]
    """Learning to rank with scikit-learn: any method of podium.

    `method` is a name or a specification: `lambdamart`, `ranknet(scorer=mlp(hidden=[16]))`; its parameters may also be
    arguments, as in `Ranker("listnet", penalty=0.1)`. `metric` is the metric of `score` and of validation data.
    `random_state` is a seed, or a random state of scikit-learn. After `fit`, `model_` is the podium model; `save`
    writes it, with the arguments of the ranker, to a file that all of podium reads, and `Ranker.load` reads it back.
    """

    __metadata_request__fit = {  # noqa: RUF012  (scikit-learn reads it)
        "qid": True,
        "sample_weight": True,
        "document_weight": True,
        "eval_set": True,
        "eval_qid": True,
        "eval_group": True,
    }
    __metadata_request__predict = {"qid": True}  # noqa: RUF012
    # A pipeline always offers sample_weight to the score of its last step; None declines it.
    __metadata_request__score = {"qid": True, "sample_weight": None}  # noqa: RUF012

    def __init__(
        self,
        method: str = "lambdamart",
        *,
        metric: str = "ndcg@10",
        random_state: int | np.random.RandomState | None = 0,
        **parameters: object,
    ) -> None:
        self.method = method
        self.metric = metric
        self.random_state = random_state
        for name, value in parameters.items():
            self._put(name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the constructor, including parameters of the method."""
        return {**super().get_params(deep), **self._parameters()}

    def set_params(self, **params: object) -> Self:
        """Change arguments of the constructor, including parameters of the method."""
        own = {name: value for name, value in params.items() if name in ("method", "metric", "random_state")}
        super().set_params(**own)
        for name in params.keys() - own.keys():
            self._put(name, params[name])
        return self

    def fit(
        self,
        X: object,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        document_weight: ArrayLike | None = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        **others: Any,
    ) -> Self:
        """Learn from rows of features, their grades (larger is better) and their queries.

        `qid` is a query id per row, or `group` the sizes of consecutive queries. `sample_weight` has the weight of each
        row, which multiplies its gradient, as in LightGBM; if it is the same for all rows of a query, it is the
        query's, which all methods take: a query of weight 2 counts twice. `document_weight` is the weight of each
        document's relevance, e.g. one over the propensity of a click; see `Dataset.relevance`. `eval_set` is validation
        data: (X, y), or a list of such pairs, of which the last is used. Its queries are in `eval_qid` or `eval_group`:
        lists too, if `eval_set` is a list. Of the other arguments of LGBMRanker, XGBRanker and CatBoostRanker it takes
        `eval_X` with `eval_y`, `eval_metric`, one `eval_at`, `group_id`, and `early_stopping_rounds` or such a
        callback, which set the method's `patience`; and `categorical_feature` or `cat_features`: columns of a frame, or
        numbers from 0.
        """
        asked = fit_arguments(others)
        qid, eval_set = asked.qid if qid is None else qid, asked.eval_set if eval_set is None else eval_set
        if qid is None and group is None:
            warnings.warn(
                "Ranker.fit without qid or group: all rows are taken for one query.", UserWarning, stacklevel=2
            )
        check_row_order(X=X, y=y, qid=qid)
        X, kept = _coded(X, asked.categorical)
        X, _ = self._validated(X, y, y_numeric=True, ensure_min_samples=2)
        y = float_numbers(y, "label")
        if np.isnan(y).any():
            raise DataError(
                f"row {np.flatnonzero(np.isnan(y))[0]}: the label is missing, which scikit-learn's estimators refuse. "
                "Leave such rows out, or use podium.train, which takes them for documents that were not judged."
            )
        names = getattr(self, "feature_names_in_", None)
        data = Dataset.from_arrays(X, y, qid=qid, group=group, feature_names=names, document_weights=document_weight)
        data = _with_codes(data, kept, asked.categorical)
        if sample_weight is not None:
            data = _weighted(data, sample_weight)
        held = None
        if eval_set is not None:
            valid_X, valid_y, queries = validation_arrays(eval_set, eval_qid, eval_group)
            valid_X = self._validated(_coded(valid_X, kept)[0], reset=False)
            held = Dataset.from_arrays(valid_X, valid_y, feature_names=names, **queries)
            held = replace(held, categories=data.categories) if kept else held
        # predict may be called without queries, so tuning does not try transforms that need them
        patience = {} if asked.patience is None else {"patience": asked.patience}
        chosen = method(self._specification(**patience)).without(lambda transform: transform.per_query)
        metric = asked.metric or self.metric
        self.model_ = train(data, chosen, valid=held, metric=metric, seed=_seed(self.random_state))
        self.had_queries_ = qid is not None or group is not None
        self._importance = importance(self.model_, data.grouped())
        return self

    def predict(self, X: object, qid: ArrayLike | None = None) -> Array:
        """Score of each row, larger is better; `qid` matters only to methods that look at a whole query."""
        check_is_fitted(self)
        if qid is None and self.had_queries_ and self.model_.learner.per_query:
            raise DataError(f"{self.method} looks at a whole query at a time: predict needs qid, as fit got it.")
        kept = self.model_.named_categories() if is_frame(X) else {}
        X = self._validated(_coded(X, kept)[0], reset=False)
        data = Dataset.from_arrays(X, qid=qid)
        return self.model_.score(replace(data, categories=self.model_.categories) if kept else data)

    def score(self, X: object, y: ArrayLike, qid: ArrayLike | None = None, *, group: ArrayLike | None = None) -> float:
        """Mean of `metric` over the queries that count; NaN if none does. Queries are given as to `fit`."""
        check_is_fitted(self)
        if qid is None and group is None and self.had_queries_:
            raise DataError(_NEEDS_QUERIES)
        if group is not None:
            labels = float_numbers(y, "label")
            qid = Dataset.from_arrays(np.zeros((len(labels), 1)), qid=qid, group=group).query_index
        ids = None if qid is None else text_ids(qid, "query id")
        scores = self.predict(X, ids)
        queries = {"group": [len(scores)]} if ids is None else {"qid": ids}
        (average,) = evaluate(float_numbers(y, "label"), scores, self.metric, **queries).means().values()
        return average.value

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model, with the arguments of this ranker, to a file of `podium.load` and all commands."""
        check_is_fitted(self)
        shares = None if self._importance is None else [self._importance[0].tolist(), self._importance[1]]
        about = {
            "method": self._specification(),
            "metric": self.metric,
            "queries": self.had_queries_,
            "importance": shares,
        }
        self.model_.with_info(ranker=about).save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """A fitted ranker from a file of `save`, or from any model file."""
        model = Model.load(path)
        about = model.info.get("ranker") or {"method": repr(model.learner), "queries": True}
        ranker = cls(about["method"], metric=about.get("metric", model.info.get("metric", "ndcg@10")))
        shares = about.get("importance")
        ranker.model_, ranker.had_queries_, ranker.n_features_in_ = model, about["queries"], model.n_features
        ranker._importance = None if shares is None else (np.array(shares[0]), shares[1])
        if model.feature_names is not None:
            ranker.feature_names_in_ = np.array(model.feature_names, object)
        return ranker

    @property
    def feature_importances_(self) -> Array:
        """Importance of each feature, as shares of 1: |weight| × standard deviation, or the gain of its splits."""
        check_is_fitted(self)
        if self._importance is None:
            raise AttributeError(f"{self.method} cannot be taken apart by feature, so it has no importances.")
        return self._importance[0]

    @property
    def coef_(self) -> Array:
        """Weight of each feature, in the feature's unit, if scores are linear in the features."""
        check_is_fitted(self)
        weights = self.model_.coefficients()
        if weights is None:
            raise AttributeError(f"the scores of {self.method} are not linear in the features, so it has no coef_.")
        return weights

    def _validated(self, X: object, *y: object, **options: object) -> Any:
        """Arguments as validated by scikit-learn, with its errors as podium's."""
        if is_frame(X):
            refuse_text(X)
        try:
            with np.errstate(over="ignore"):
                validated = validate_data(self, X, *y, **options, **_ACCEPTED)
        except TypeError as error:
            raise _WrongTypeError(str(error)) from error
        except (ValueError, ArithmeticError) as error:
            raise DataError(str(error)) from error
        except Warning:
            raise
        except Exception as error:  # of a library whose column scikit-learn mistakes for an array
            raise DataError(f"{type(error).__name__}: {error}") from error
        if is_frame(X):
            return validated
        features = feature_array(X, None)  # scikit-learn drops masks, and reads text and times as numbers
        return (features, *validated[1:]) if y else features

    def _put(self, name: str, value: object) -> None:
        if hasattr(type(self), name) or name.startswith("_") or name.endswith("_"):
            raise ParameterError(f"{name!r} is no parameter of a method.")
        setattr(self, name, value)

    def _parameters(self) -> dict[str, Any]:
        """Parameters of the method that are arguments of the constructor."""
        own = {"method", "metric", "random_state", "n_features_in_", "feature_names_in_"}
        return {
            name: value
            for name, value in vars(self).items()
            if name not in own and not name.startswith("_") and not name.endswith("_")
        }

    def _specification(self, **more: object) -> str:
        """The method with its parameters as a specification, e.g. listnet(penalty=0.1)."""
        name, parameters = split_call(self.method)
        arguments = {
            key: write(tuple(value) if isinstance(value, list) else value)
            for key, value in (self._parameters() | more).items()
        }
        twice = parameters.keys() & arguments.keys()
        if twice:
            raise ParameterError(f"{min(twice)} is given twice: in method={self.method!r} and by name.")
        parameters |= arguments
        return f"{name}({','.join(f'{key}={text}' for key, text in parameters.items())})" if parameters else name

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _coded(X: Any, categorical: Any) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """A frame with codes in place of its categories, and these; other data as it is."""
    if not categorical or not is_frame(X):
        return X, {}
    columns = list(frame_table(X).columns)
    if not isinstance(categorical, dict):
        categorical = [columns[name] if isinstance(name, int) and name < len(columns) else name for name in categorical]
        missing = [name for name in categorical if name not in columns]
        if missing:
            raise DataError(f"categorical_feature: no column {missing[0]!r} among {', '.join(columns[:12])}.")
    return coded_frame(X, categorical)


def _with_codes(data: Table, kept: dict[str, tuple[str, ...]], asked: tuple[str | int, ...]) -> Table:
    """The data with its categories: those of a frame, which has codes by now, or numbers of an array."""
    if kept:
        names = data.feature_names or ()
        return replace(data, categories={names.index(name): values for name, values in kept.items()})
    return (
        with_categories(data, [str(name + 1) if isinstance(name, int) else name for name in asked]) if asked else data
    )


class _WrongTypeError(DataError, TypeError):
    """A TypeError of scikit-learn."""


_ACCEPTED = {"accept_sparse": "csr", "dtype": np.float32, "ensure_all_finite": "allow-nan"}


_NEEDS_QUERIES = (
    "score needs qid, as fit got it: without it all rows would be one query. Pass qid or group; in cross_val_score, "
    "GridSearchCV and Pipeline, call sklearn.set_config(enable_metadata_routing=True) first. With error_score='raise' "
    "they stop at this error; else their scores are NaN."
)


def _weighted(data: Table, sample_weight: ArrayLike) -> Table:
    """The data with weights of queries, if they are the same for all rows of each, else with weights of rows."""
    weights = float_numbers(sample_weight, "sample weight")
    if len(weights) != data.n_documents:
        raise DataError(f"{len(weights)} sample weights for {data.n_documents} rows.")
    return weighted_rows(data, weights)


def _seed(random_state: object) -> int:
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ParameterError(f"random_state: {error}") from None
