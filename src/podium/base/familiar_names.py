"""Familiar names: parameters of LightGBM, XGBoost and CatBoost as podium calls them, or why podium has none.

    >>> renamed({"n_estimators": "100"}, {"rounds", "learning_rate"})
    {'rounds': '100'}
    >>> without_absent({"rounds": "100", "device": "cpu"}, {"rounds", "num_leaves"}, method="lambdamart")
    {'rounds': '100'}

A name is translated if it means the same. Parameters that podium does not have are dropped if their value asks for what
podium does anyway, such as device=cpu; otherwise an error says what to do instead. A name that podium itself has
is never looked up here, so a parameter that is added to a class needs no change of these tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from podium.base.errors import ParameterError

_SAME = {
    "rounds": "n_estimators num_boost_round num_iterations num_iteration n_iter num_tree num_trees num_round num_rounds"
    " nrounds max_iter iterations",
    "learning_rate": "eta shrinkage_rate",
    "num_leaves": "max_leaves num_leaf max_leaf max_leaf_nodes",
    "min_data_in_leaf": "min_child_samples min_data_per_leaf min_data min_samples_leaf",
    "min_sum_hessian_in_leaf": "min_child_weight min_sum_hessian_per_leaf min_sum_hessian min_hessian",
    "penalty": "reg_lambda lambda_l2 l2_leaf_reg lambda",
    "bagging_fraction": "subsample sub_row bagging",
    "feature_fraction": "colsample_bytree sub_feature",
    "patience": "early_stopping_rounds early_stopping_round early_stopping od_wait n_iter_no_change",
    "max_bin": "max_bins border_count",
    "max_depth": "depth",
    "penalty_l1": "reg_alpha lambda_l1 l1_regularization alpha",
    "least_gain": "gamma min_split_gain min_gain_to_split min_split_loss",
    "extra": "extra_trees extra_tree",
    "smooth": "path_smooth",
    "feature_fraction_bynode": "colsample_bynode sub_feature_bynode rsm",
    "drop": "drop_rate rate_drop",
    "sample": "data_sample_strategy",
    "costs": "cegb_penalty_feature_coupled",
    "together": "interaction_constraints",
}
"""Other tools' names, by podium's for the same."""
ALIASES = {other: name for name, others in _SAME.items() for other in others.split()}
_ONLY_WITH = {"penalty": "bagging_fraction"}
"""Names that mean the same only if there is another parameter: a penalty on leaves is none on weights."""


def _numbers_from_one(text: str) -> str:
    """Numbers of features, which other tools count from 0."""
    return re.sub(r"(?<![^\s,\[])\d+(?![^\s,\]])", lambda number: str(int(number[0]) + 1), text)


_CONVERTED: dict[str, Callable[[str], str]] = {
    "border_count": lambda text: str(int(text) + 1) if text.isdecimal() else text,
    "depth": lambda text: "none" if text in ("-1", "0") else text,
    "data_sample_strategy": lambda text: "none" if text == "bagging" else text,
    "interaction_constraints": _numbers_from_one,
}
"""Values that differ: n borders make n + 1 bins, and features are counted from 1."""
_UNLIMITED = {"max_depth": ("-1", "0")}
"""Values that other tools write for no limit, by a parameter that podium calls the same."""

_NO_GPU = "podium has no GPU support; it trains on all cores of the processor (PODIUM_THREADS sets how many)"
_CATEGORIES = (
    "categories belong to the data: from_frame(…, categorical=[…]), podium train --categorical, "
    "Ranker().fit(…, categorical_feature=[…])"
)
_SEED = "the seed is no parameter of a method: --seed on the command line, train(…, seed=…), Ranker(random_state=…)"
_PER_LEVEL = (
    "features are drawn for each tree (feature_fraction) or split (feature_fraction_bynode), not for each level"
)
_THREADS = "threads are set by the environment: PODIUM_THREADS"
_BOOSTING = (
    "trees are boosted by gradient (gbdt), grown leaf by leaf on histograms. For dart set drop=0.1, for goss "
    "sample=goss and bagging_fraction=1, for forests use the method random-forest"
)
_QUIET = "training prints nothing; podium train shows its progress"
_FREQUENCY = "queries are drawn again for every tree (bagging_fraction); leave it out"
_METRIC = "gains and cut-off belong to the metric that the loss optimises: metric=ndcg@k, metric='ndcg@k[gain=linear]'"
_VALID_METRIC = "the metric on validation data is --metric on the command line, metric=… of train and Ranker"
_MONOTONE = "give a number for each feature, as in [1,0,-1], to a method with trees; or rising=[…], falling=[…]"
_ANY = "*"

ABSENT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("monotone_constraints", "monotonic_cst", "mc"), (_MONOTONE, "none")),
    **dict.fromkeys(("categorical_feature", "cat_features", "enable_categorical"), (_CATEGORIES, "auto none false")),
    **dict.fromkeys(("device", "device_type", "task_type", "gpu_id", "devices"), (_NO_GPU, "cpu CPU none")),
    **dict.fromkeys(("n_jobs", "num_threads", "nthread", "thread_count", "n_threads"), (_THREADS, "-1 0 none")),
    **dict.fromkeys(("verbose", "verbosity", "silent", "verbose_eval", "logging_level"), (_QUIET, _ANY)),
    **dict.fromkeys(("random_state", "random_seed", "seed"), (_SEED, "none")),
    **dict.fromkeys(("eval_metric", "eval_at", "ndcg_eval_at"), (_VALID_METRIC, "none")),
}
"""Parameters that podium does not have: why, and the values that ask for what it does anyway."""
ABSENT_OF_TREES: dict[str, tuple[str, str]] = {
    "colsample_bylevel": (_PER_LEVEL, "1 1.0"),
    **dict.fromkeys(("boosting_type", "boosting", "booster"), (_BOOSTING, "gbdt gbrt gbtree")),
    **dict.fromkeys(("tree_method", "grow_policy"), (_BOOSTING, "auto hist lossguide Lossguide")),
    **dict.fromkeys(("subsample_freq", "bagging_freq"), (_FREQUENCY, "1")),
    **dict.fromkeys(("label_gain", "lambdarank_truncation_level", "max_position", "ndcg_exp_gain"), (_METRIC, "none")),
    "importance_type": ("podium.importance gives the gain of splits", "gain split"),
}
"""The same for methods that grow trees."""

OBJECTIVES = {
    "lambdarank": "lambdamart",
    "rank:ndcg": "lambdamart",
    "rank:map": "lambdamart-map",
    "rank:pairwise": "lambdamart(loss=ranknet)",
    "pairlogit": "lambdamart(loss=ranknet)",
    "querysoftmax": "lambdamart(loss=softmax)",
    **dict.fromkeys(("rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"), "xe-ndcg-mart"),
    "yetirank": "yetirank",
    "queryrmse": "lambdamart(loss=query-rmse)",
    "querycrossentropy": "lambdamart(loss=query-cross-entropy)",
    "stochasticrank": "lambdamart(loss=stochastic-rank)",
    "regression": "lambdamart(loss=regression)",
    "rmse": "lambdamart(loss=regression)",
    "reg:squarederror": "lambdamart(loss=regression)",
}
"""podium's method for an objective of another tool, with trees as there."""

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def announced(say: Callable[[str], None]) -> Iterator[None]:
    """Say once for each familiar name what it is here, within the block."""
    announced_before: set[str] = set()

    def once(note: str) -> None:
        if note not in announced_before:
            announced_before.add(note)
            say(note)

    token = _listener.set(once)
    try:
        yield
    finally:
        _listener.reset(token)


def renamed(arguments: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Arguments with podium's names, for something that has parameters of these names."""
    own: dict[str, str] = {}
    for key, text in _with_signs(arguments, names).items():
        name = key if key in names else canonical(key, names) or key
        if name in own:
            raise ParameterError(f"{name} is given twice, once by another tool's name: {', '.join(arguments)}.")
        own[name] = "none" if text in _UNLIMITED.get(key, ()) else text
        if key != name:
            own[name] = _CONVERTED[key](text) if key in _CONVERTED else text
        if own[name] != text or key != name:
            _say(f"{key}={text} is {name}={own[name]}")
    return own


def _with_signs(arguments: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Arguments with monotone constraints, a sign for each feature, as lists of rising and falling features."""
    plain = dict(arguments)
    for key in _SIGNS.intersection(arguments).difference(names):
        signs = re.findall(r"[^\s,()\[\]]+", arguments[key])
        if "rising" not in names or not signs or not set(signs) <= {"-1", "0", "1"}:
            continue
        del plain[key]
        for name, sign in (("rising", "1"), ("falling", "-1")):
            places = [str(place) for place, text in enumerate(signs, 1) if text == sign]
            if places and name in plain:
                raise ParameterError(f"{name} is given twice, once by another tool's name: {', '.join(arguments)}.")
            if places:
                plain[name] = f"[{','.join(places)}]"
                _say(f"{key}={arguments[key]} is {name}={plain[name]}")
    return plain


_SIGNS = {"monotone_constraints", "monotonic_cst", "mc"}


def without_absent(arguments: Mapping[str, str], names: Collection[str], *, method: str) -> dict[str, str]:
    """Arguments of a method without those that podium does not have; raises a clear error if they would change it."""
    absent = ABSENT | ABSENT_OF_TREES if "num_leaves" in names else ABSENT
    unused = {"seed"} if "pairs" in names and "pairs" not in arguments else set()  # lambdarank's, for drawn pairs
    own = set(names) - unused
    kept: dict[str, str] = {}
    for key, text in arguments.items():
        if key not in own and key in ("objective", "loss_function"):
            _check_objective(key, text, method)
        elif key not in own and key in absent:
            _check_absent(key, text, *absent[key])
        else:
            kept[key] = text
    return kept


def canonical(key: str, names: Collection[str]) -> str | None:
    """podium's name of another tool's parameter, if it is among the names and means the same there."""
    name = ALIASES.get(key)
    return name if name in names and (name not in _ONLY_WITH or _ONLY_WITH[name] in names) else None


def _check_absent(key: str, text: str, why: str, neutral: str) -> None:
    if neutral != _ANY and text not in neutral.split():
        raise ParameterError(f"No parameter {key!r}: {why}.")
    _say(f"{key}={text} is left out: {why}" if neutral == _ANY else f"{key}={text} is what podium does anyway")


def _check_objective(key: str, text: str, method: str) -> None:
    wanted = OBJECTIVES.get(text.lower())
    if wanted is None:
        raise ParameterError(f"{key}={text}: the objective is the method's. Choose one: podium methods.")
    if wanted != method:
        raise ParameterError(f"{key}={text} is the method {wanted!r}. Write that, with the other parameters in it.")
    _say(f"{key}={text} is the method {wanted}")


def _say(note: str) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(note)
