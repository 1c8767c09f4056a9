"""Training data inside the parameters of a model, as plain arrays, for learners that learn again when they score."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import dense, is_sparse
from podium.base.errors import ModelFileError, PodiumError
from podium.base.json_arrays import packed_json, unpacked_json
from podium.data.dataset import Dataset
from podium.scorers import Params


def data_params(data: Dataset) -> Params:
    """The features, labels, queries, query weights and query features of a dataset, as arrays."""
    X: Any = data.features
    parts: Params = {"offsets": data.offsets}
    if is_sparse(X):
        parts |= {"values": X.data, "columns": X.indices.astype(np.int64), "rows": X.indptr.astype(np.int64)}
    else:
        parts["features"] = np.ascontiguousarray(dense(X[0 : data.n_documents]))
    rest = {"labels": data.labels, "query_weights": data.query_weights, "query_features": data.query_features}
    parts |= {name: np.asarray(array) for name, array in rest.items() if array is not None}
    if data.query_feature_names is not None:
        parts["query_feature_names"] = packed_json(data.query_feature_names)
    return parts


def data_of(params: Params, n_features: int) -> Dataset:
    """The dataset of `data_params`, from a file that nobody vouches for."""
    names = unpacked_json(params, "query_feature_names") if "query_feature_names" in params else None
    try:
        X = _features(params, n_features)
        if X.shape[1] != n_features or X.dtype != np.float32 or params["offsets"].dtype != np.int64:
            raise ModelFileError("The model's training data has other features. Train it again.")
        return Dataset(
            X,
            params.get("labels"),
            params["offsets"],
            query_weights=params.get("query_weights"),
            query_features=params.get("query_features"),
            query_feature_names=None if names is None else tuple(map(str, names)),
        )
    except ModelFileError:
        raise
    except (PodiumError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelFileError(f"The model's training data is damaged ({error}). Train it again.") from None


def _features(params: Params, n_features: int) -> Any:
    if "features" in params:
        return params["features"]
    import scipy.sparse as sp

    X = sp.csr_array((params["values"], params["columns"], params["rows"]), shape=(len(params["rows"]) - 1, n_features))
    X.check_format()  # raises ValueError
    return X
