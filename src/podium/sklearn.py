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
`eval_qid`): validation data for early stopping, for tuning, and for calibrated probabilities of ranks.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import check_row_order, float_numbers, text_ids
from podium.base.errors import DataError, MissingPackageError, ParameterError
from podium.base.registry import split_call, write
from podium.data.array_parts import feature_array
from podium.data.dataset import Dataset
from podium.data.frames import weights_of_queries
from podium.data.inputs import is_frame
from podium.data.table import Table
from podium.evaluation.evaluate import evaluate
from podium.explanation.attribution import importance
from podium.methods import method
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
    `random_state` is a seed, or a random state of scikit-learn. After `fit`, `model_` is the podium model; save it with
    `model_.save(path)`.
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
    ) -> Self:
        """Learn from rows of features, their grades (larger is better) and their queries.

        `qid` is a query id per row, or `group` the sizes of consecutive queries. `sample_weight` has the weight of each
        row's query: a query of weight 2 counts twice. `document_weight` is the weight of each document's relevance,
        e.g. one over the propensity of a click; see `Dataset.relevance`. `eval_set` is validation data: (X, y), or a
        list of such pairs, of which the last is used. Its queries are in `eval_qid` or `eval_group`: lists too, if
        `eval_set` is a list.
        """
        if qid is None and group is None:
            warnings.warn(
                "Ranker.fit without qid or group: all rows are taken for one query.", UserWarning, stacklevel=2
            )
        check_row_order(X=X, y=y, qid=qid)
        X, _ = self._validated(X, y, y_numeric=True, ensure_min_samples=2)
        y = float_numbers(y, "label")
        names = getattr(self, "feature_names_in_", None)
        data = Dataset.from_arrays(X, y, qid=qid, group=group, feature_names=names, document_weights=document_weight)
        if sample_weight is not None:
            data = _weighted(data, sample_weight)
        held = None
        if eval_set is not None:
            valid_X, valid_y, queries = _validation(eval_set, eval_qid, eval_group)
            valid_X = self._validated(valid_X, reset=False)
            held = Dataset.from_arrays(valid_X, valid_y, feature_names=names, **queries)
        # predict may be called without queries, so tuning does not try transforms that need them
        chosen = method(self._specification()).without(lambda transform: transform.per_query)
        self.model_ = train(data, chosen, valid=held, metric=self.metric, seed=_seed(self.random_state))
        self.had_queries_ = qid is not None or group is not None
        self._importance = importance(self.model_, data.grouped())
        return self

    def predict(self, X: object, qid: ArrayLike | None = None) -> Array:
        """Score of each row, larger is better; `qid` matters only to methods that look at a whole query."""
        check_is_fitted(self)
        if qid is None and self.had_queries_ and self.model_.learner.per_query:
            raise DataError(f"{self.method} looks at a whole query at a time: predict needs qid, as fit got it.")
        X = self._validated(X, reset=False)
        return self.model_.score(Dataset.from_arrays(X, qid=qid))

    def score(self, X: object, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """Mean of `metric` over the queries that count; NaN if none does."""
        check_is_fitted(self)
        if qid is None and self.had_queries_:
            raise DataError(
                "score needs qid, as fit got it: without it all rows would be one query. Pass qid; in cross_val_score, "
                "GridSearchCV and Pipeline, call sklearn.set_config(enable_metadata_routing=True) first."
            )
        ids = None if qid is None else text_ids(qid, "query id")
        scores = self.predict(X, ids)
        queries = {"group": [len(scores)]} if ids is None else {"qid": ids}
        (average,) = evaluate(float_numbers(y, "label"), scores, self.metric, **queries).means().values()
        return average.value

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

    def _specification(self) -> str:
        """The method with its parameters as a specification, e.g. listnet(penalty=0.1)."""
        name, parameters = split_call(self.method)
        arguments = {
            key: write(tuple(value) if isinstance(value, list) else value) for key, value in self._parameters().items()
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


class _WrongTypeError(DataError, TypeError):
    """A TypeError of scikit-learn."""


_ACCEPTED = {"accept_sparse": "csr", "dtype": np.float32, "ensure_all_finite": "allow-nan"}


def _validation(eval_set: Any, eval_qid: Any, eval_group: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Features and labels of validation data, and its queries as arguments of `Dataset.from_arrays`."""
    if eval_qid is None and eval_group is None:
        raise DataError("eval_set needs its queries: eval_qid (an id per row) or eval_group (sizes).")
    several = isinstance(eval_set, list)
    pair = eval_set[-1] if several else eval_set
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise DataError("eval_set must be (X, y), or a list of such pairs.")
    queries = {"qid": eval_qid, "group": eval_group}
    if several:
        for name, value in queries.items():
            if value is not None and len(value) != len(eval_set):
                raise DataError(f"eval_set has {len(eval_set)} parts, eval_{name} {len(value)}.")
        queries = {name: None if value is None else value[-1] for name, value in queries.items()}
    return pair[0], pair[1], queries


def _weighted(data: Table, sample_weight: ArrayLike) -> Table:
    """The data with query weights, from the weights of its rows."""
    weights = float_numbers(sample_weight, "sample weight")
    if len(weights) != data.n_documents:
        raise DataError(f"{len(weights)} sample weights for {data.n_documents} rows.")
    try:
        return replace(data, query_weights=weights_of_queries(data, weights))
    except DataError as error:
        raise DataError(f"sample_weight: {error} If documents weigh differently, use document_weight.") from None


def _seed(random_state: object) -> int:
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ParameterError(f"random_state: {error}") from None
