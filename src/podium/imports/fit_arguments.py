"""Arguments of fit as LGBMRanker, XGBRanker and CatBoostRanker take them: those that mean the same here, or why not.

>>> fit_arguments({"early_stopping_rounds": 20, "eval_at": [5], "verbose": False})
FitArguments(patience=20, metric='ndcg@5', qid=None, eval_set=None, categorical=())
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from podium.base.errors import DataError, ParameterError

_SAME_AS_DEFAULT: dict[str, tuple[object, ...]] = {
    "feature_name": ("auto",),
    "use_best_model": (True,),
}
_WITHOUT_EFFECT = ("verbose", "verbose_eval", "eval_names", "logging_level", "silent", "plot")
_ABSENT = {
    "init_score": "podium starts from equal scores",
    "eval_init_score": "podium starts from equal scores",
    "base_margin": "podium starts from equal scores",
    "base_margin_eval_set": "podium starts from equal scores",
    "init_model": "podium.train(…, start=model) goes on from a model of podium",
    "xgb_model": "podium.train(…, start=model) goes on from a model of podium",
    "feature_weights": "features have no weights",
    "eval_sample_weight": "validation queries count alike",
    "sample_weight_eval_set": "validation queries count alike",
    "group_weight": "weights of queries are sample_weight, the same for all rows of a query",
    "subgroup_id": "there are no groups within a query",
    "pairs": "preferences are in a Dataset: podium.train(Dataset.from_arrays(…, preferences=…))",
    "feature_name": "give X as a data frame, whose columns are the names",
    "use_best_model": "with eval_set, podium keeps the best number of trees; leave eval_set out for all of them",
}


class FitArguments(NamedTuple):
    """What the arguments of another tool's fit ask for; None if they do not say."""

    patience: int | None = None
    metric: str | None = None
    qid: Any = None
    eval_set: Any = None
    categorical: tuple[str | int, ...] = ()
    """Features of categories, by name or number from 0."""


def fit_arguments(arguments: dict[str, Any]) -> FitArguments:
    """Translate arguments of another tool's fit; raises a clear error for what podium does not have."""
    rest = {name: value for name, value in arguments.items() if value is not None and name not in _WITHOUT_EFFECT}
    patience = [rest.pop("early_stopping_rounds", None), *_patience_of(rest.pop("callbacks", ()))]
    metric, qid = _metric(rest.pop("eval_metric", None), rest.pop("eval_at", None)), rest.pop("group_id", None)
    categorical = (*_categorical(rest.pop("categorical_feature", ())), *_categorical(rest.pop("cat_features", ())))
    held = _pairs(rest.pop("eval_X", None), rest.pop("eval_y", None))
    for name, value in rest.items():
        if not any(
            value is same or (isinstance(value, str) and value == same) for same in _SAME_AS_DEFAULT.get(name, ())
        ):
            why = _ABSENT.get(
                name, "fit takes X, y, qid or group, sample_weight, document_weight, eval_set and its queries"
            )
            raise ParameterError(f"fit has no argument {name!r}: {why}.")
    rounds = {int(value) for value in patience if value is not None}
    if len(rounds) > 1:
        raise ParameterError(f"early stopping after {' and '.join(map(str, sorted(rounds)))} rounds: say one.")
    return FitArguments(rounds.pop() if rounds else None, metric, qid, held, categorical)


def _categorical(features: Any) -> tuple[str | int, ...]:
    """Features of categories from a list, or from LightGBM's text: auto, or name:brand,colour."""
    if isinstance(features, str):
        names = "" if features == "auto" else features.removeprefix("name:")
        return tuple(int(name) if name.isdecimal() and names == features else name for name in names.split(",") if name)
    return tuple(features)


def _pairs(features: Any, labels: Any) -> Any:
    """Validation data given as eval_X and eval_y, each one or a tuple of several, as eval_set."""
    if (features is None) != (labels is None):
        raise ParameterError("eval_X and eval_y go together: features and labels of validation data.")
    if not isinstance(features, tuple):
        return None if features is None else (features, labels)
    if not isinstance(labels, tuple) or len(labels) != len(features):
        raise ParameterError("eval_X is a tuple, so eval_y must be one of the same length.")
    return list(zip(features, labels, strict=True))


def _patience_of(callbacks: Iterable[Any]) -> list[int]:
    """Rounds of early stopping in LightGBM's or XGBoost's callbacks; those that only print are dropped."""
    rounds: list[int] = []
    for callback in callbacks:
        if hasattr(callback, "stopping_rounds"):  # LightGBM's early_stopping
            rounds.append(callback.stopping_rounds)
        elif type(callback).__name__ == "EarlyStopping" and hasattr(callback, "rounds"):  # XGBoost's
            rounds.append(callback.rounds)
        elif not hasattr(callback, "period"):  # log_evaluation, EvaluationMonitor
            name = getattr(callback, "__name__", type(callback).__name__)
            raise ParameterError(
                f"callbacks: {name} cannot be called; only early stopping is taken. podium.train takes observers=("
                "function,), called after each iteration."
            )
    return rounds


def _metric(name: object, at: Any) -> str | None:
    """The metric on validation data, from a name such as ndcg and cut-offs such as [5]."""
    if name is None and at is None:
        return None
    cuts = [at] if isinstance(at, int) else [] if at is None else list(at)
    if callable(name) or (name is not None and not isinstance(name, str)) or len(cuts) > 1:
        what = f"eval_at={cuts}" if len(cuts) > 1 else f"eval_metric={name}"
        raise ParameterError(
            f"{what}: training stops by one metric. Name it, e.g. Ranker(metric='ndcg@5'), and measure others with "
            "podium.evaluate."
        )
    return f"{name or 'ndcg'}@{cuts[0]}" if cuts else str(name)


def validation_arrays(eval_set: Any, eval_qid: Any, eval_group: Any) -> tuple[Any, Any, dict[str, Any]]:
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
