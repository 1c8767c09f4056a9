"""A ranker as a scikit-learn estimator: rows in any order, each row's query in `qid`, scores in the order of the rows.

    >>> import numpy as np
    >>> from podium.sklearn import Ranker
    >>> X, y, qid = np.arange(8.0).reshape(8, 1), [0, 1, 0, 1, 0, 1, 0, 1], [1, 1, 2, 2, 3, 3, 4, 4]
    >>> Ranker("ranknet").fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0

`qid` follows the rows through scikit-learn's metadata routing: fit, predict and score ask for it, so that

    sklearn.set_config(enable_metadata_routing=True)
    cross_val_score(Ranker(), X, y, cv=GroupKFold(5), params={"qid": qid, "groups": qid})
    GridSearchCV(Ranker(), {"method": ["listnet", "lambdamart(num_leaves=15)"]}, cv=GroupKFold(5)).fit(
        X, y, qid=qid, groups=qid
    )

and a `Pipeline` that ends in a ranker need nothing more. `GroupKFold` with the queries as groups never cuts one.
"""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from podium.data.dataset import Dataset
from podium.errors import DataError
from podium.metrics import Metric, mean
from podium.training import train


class Ranker(BaseEstimator):  # type: ignore[misc]
    """Any method of podium.

    `method` is a name or a specification as everywhere: `lambdamart`, `listnet(penalty=0.01)`,
    `ranknet(scorer=mlp(hidden=[16]))`. `metric` is what `score` measures. `random_state` is a seed, or what
    scikit-learn takes for one. After `fit`, `model_` is the podium model, to be saved to a file.
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012  (scikit-learn reads it)
    __metadata_request__predict = {"qid": True}  # noqa: RUF012
    # A pipeline always mentions sample_weight to its last step's score; None says that it is known and not wanted.
    __metadata_request__score = {"qid": True, "sample_weight": None}  # noqa: RUF012

    def __init__(
        self,
        method: str = "lambdamart",
        *,
        metric: str = "ndcg@10",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.method = method
        self.metric = metric
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Learn from rows of features, their grades (larger is better) and their queries; without `qid` all are one."""
        X, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, **_ACCEPTED)
        names = getattr(self, "feature_names_in_", None)
        data = Dataset.from_arrays(X, y, qid=qid, feature_names=names)
        self.model_ = train(data, self.method, metric=self.metric, seed=_seed(self.random_state))
        self.needs_qid_ = qid is not None and self.model_.learner.transform.per_query
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.float64]:
        """The score of each row, larger is better; `qid` matters only to transforms that look at a whole query."""
        check_is_fitted(self)
        if qid is None and self.needs_qid_:
            raise DataError(
                f"{self.method} scales features within each query ({self.model_.learner.transform}): "
                "predict needs qid, as fit got it. Pass qid, or use transform=zscore."
            )
        X = validate_data(self, X, reset=False, **_ACCEPTED)
        return self.model_.predict(X, qid)

    def score(self, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """The mean of `metric` over the queries that count; NaN where none does."""
        data = Dataset.from_arrays(np.empty((len(np.asarray(y)), 0)), y, qid=qid)
        assert data.labels is not None
        scores = data.own_order(self.predict(X, qid))
        return mean(Metric.parse(self.metric)(scores, data.labels, data.offsets)).value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


_ACCEPTED = {"accept_sparse": "csr", "dtype": np.float32, "ensure_all_finite": "allow-nan"}


def _seed(random_state: Any) -> int:
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
