"""Familiar names: parameters of LightGBM, XGBoost and CatBoost as podium calls them, or why podium has none.

    >>> renamed({"n_estimators": "100"}, {"rounds", "learning_rate"})
    {'rounds': '100'}
    >>> without_absent({"rounds": "100", "max_depth": "-1"}, {"rounds", "num_leaves"}, method="lambdamart")
    {'rounds': '100'}

A name is translated if it means the same. Parameters that podium does not have are dropped if their value asks for what
podium does anyway, such as max_depth=-1; otherwise an error says what to do instead. A name that podium itself has
is never looked up here, so a parameter that is added to a class needs no change of these tables.
"""

from __future__ import annotations

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
}
"""Other tools' names, by podium's for the same."""
ALIASES = {other: name for name, others in _SAME.items() for other in others.split()}
_ONLY_WITH = {"penalty": "bagging_fraction"}
"""Names that mean the same only if there is another parameter: a penalty on leaves is none on weights."""
_CONVERTED: dict[str, Callable[[str], str]] = {"border_count": lambda text: str(int(text) + 1)}
"""Values that differ: n borders make n + 1 bins."""

_NO_GPU = "podium has no GPU support; it trains on all cores of the processor (PODIUM_THREADS sets how many)"
_CATEGORIES = "there are no categorical features yet; encode them as numbers, e.g. by scikit-learn's OneHotEncoder"
_SEED = "the seed is no parameter of a method: --seed on the command line, train(…, seed=…), Ranker(random_state=…)"
_DEPTH = "trees grow leaf by leaf, and num_leaves limits them; a tree of depth d has up to 2^d leaves"
_PER_TREE = "feature_fraction draws features for each tree; there is none for each level or split"
_THREADS = "threads are set by the environment: PODIUM_THREADS"
_BOOSTING = "trees are boosted by gradient (gbdt), grown leaf by leaf on histograms; there is no other way yet"
_QUIET = "training prints nothing; podium train shows its progress"
_FREQUENCY = "queries are drawn again for every tree (bagging_fraction); leave it out"
_GAIN = "there is no smallest gain of a split; min_sum_hessian_in_leaf, min_data_in_leaf and penalty limit splits"
_METRIC = "gains and cut-off belong to the metric that the loss optimises: metric=ndcg@k, metric='ndcg@k[gain=linear]'"
_VALID_METRIC = "the metric on validation data is --metric on the command line, metric=… of train and Ranker"
_ANY = "*"

ABSENT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("monotone_constraints", "monotonic_cst", "mc"), ("there are no monotone constraints yet", "none")),
    "interaction_constraints": ("there are no interaction constraints", "none"),
    **dict.fromkeys(("categorical_feature", "cat_features", "enable_categorical"), (_CATEGORIES, "auto none false")),
    **dict.fromkeys(("device", "device_type", "task_type", "gpu_id", "devices"), (_NO_GPU, "cpu CPU none")),
    **dict.fromkeys(("n_jobs", "num_threads", "nthread", "thread_count", "n_threads"), (_THREADS, "-1 0 none")),
    **dict.fromkeys(("verbose", "verbosity", "silent", "verbose_eval", "logging_level"), (_QUIET, _ANY)),
    **dict.fromkeys(("random_state", "random_seed", "seed"), (_SEED, "none")),
    **dict.fromkeys(("eval_metric", "eval_at", "ndcg_eval_at"), (_VALID_METRIC, "none")),
}
"""Parameters that podium does not have: why, and the values that ask for what it does anyway."""
ABSENT_OF_TREES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("max_depth", "depth"), (_DEPTH, "-1 0 none")),
    **dict.fromkeys(("reg_alpha", "lambda_l1", "alpha"), ("there is no L1 penalty of leaves; penalty is L2", "0 0.0")),
    **dict.fromkeys(("gamma", "min_split_gain", "min_gain_to_split", "min_split_loss"), (_GAIN, "0 0.0")),
    **dict.fromkeys(("colsample_bylevel", "colsample_bynode", "feature_fraction_bynode", "rsm"), (_PER_TREE, "1 1.0")),
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
    for key, text in arguments.items():
        name = key if key in names else canonical(key, names) or key
        if name in own:
            raise ParameterError(f"{name} is given twice, once by another tool's name: {', '.join(arguments)}.")
        own[name] = text
        if key != name:
            own[name] = _CONVERTED[key](text) if key in _CONVERTED and text.isdecimal() else text
            _say(f"{key}={text} is {name}={own[name]}")
    return own


def without_absent(arguments: Mapping[str, str], names: Collection[str], *, method: str) -> dict[str, str]:
    """Arguments of a method without those that podium does not have; raises a clear error if they would change it."""
    absent = ABSENT | ABSENT_OF_TREES if "num_leaves" in names else ABSENT
    kept: dict[str, str] = {}
    for key, text in arguments.items():
        if key not in names and key in ("objective", "loss_function"):
            _check_objective(key, text, method)
        elif key not in names and key in absent:
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
