"""Errors and warnings of podium, as a tree.

    PodiumError
    ├── DataError           the data is wrong: a file's line, a label, a query; also a ValueError
    ├── ParameterError      a parameter or specification is wrong; also a ValueError
    │   └── UnknownNameError    no such loss, metric, method…; carries the nearest names
    ├── IncompatibleError   parts that are right alone do not fit together; also a ValueError
    ├── ClusterError        a cluster went away, or cannot do the work
    ├── ComparisonError     some tasks of a comparison failed; carries the results of the others
    ├── ModelFileError      a model file is damaged, too new, or no model file
    ├── IndexFileError      an index is damaged, too new, locked, or no index
    ├── MachineError        a machine judge cannot be asked, or does not answer as one
    ├── PluginError         custom code failed; names its file and line
    └── MissingPackageError an optional package is not installed; also an ImportError

    PodiumWarning           the result may not be the intended one; a UserWarning
    ├── ConvergenceWarning  an iteration stopped before it had converged, or chains had not mixed
    └── CostWarning         the computation will take minutes or more

Every message says what, where, expected, got, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class PodiumError(Exception):
    """Base class of all errors that podium raises on purpose."""

    def __init__(self, *arguments: object, **others: Any) -> None:
        super().__init__(*(shortened(part) if isinstance(part, str) else part for part in arguments), **others)


def shortened(message: str) -> str:
    """Cut the middle out of a long message: errors quote files, which may hold words of megabytes."""
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"


_LONGEST = 2000


class DataError(PodiumError, ValueError):
    """The data is wrong. `where` is a file, with its line if there is one."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where


class ParameterError(PodiumError, ValueError):
    """A parameter or specification is wrong."""


class UnknownNameError(ParameterError):
    """No such name; suggests the nearest ones."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, see: str | None = None, instead: str | None = None
    ) -> None:
        names = sorted(set(known))
        near = [] if instead else _nearest(name, names)
        hint = (
            f" Instead: {instead}"
            if instead
            else f" Did you mean {' or '.join(repr(n) for n in near)}?"
            if near
            else f" Known: {', '.join(names)}."
        )
        super().__init__(f"No {kind} {name!r}.{hint}" + (f" See: {see}" if see else ""))
        self.kind, self.name, self.near = kind, name, near


def _nearest(name: str, names: list[str]) -> list[str]:
    """The names most likely meant: equal but for spelling, another tool's word for the same, or similar."""
    word = _squeezed(name)
    meant = [other for other in names if _squeezed(other) == word]
    meant = meant or [other for other in names if word in map(_squeezed, OTHER_WORDS.get(other, "").split())]
    return meant or get_close_matches(name.lower(), names, n=3, cutoff=0.6)


def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


OTHER_WORDS = {
    "rounds": "n_estimators num_iterations num_boost_round num_round num_trees n_trees",
    "learning_rate": "eta lr shrinkage rate step_size",
    "num_leaves": "max_depth depth leaves max_leaves max_leaf_nodes leaf",
    "min_data_in_leaf": "min_child_samples min_samples_leaf mls",
    "min_sum_hessian_in_leaf": "min_child_weight min_curvature",
    "feature_fraction": "colsample_bytree max_features rsm",
    "bagging_fraction": "subsample bagging row_sample",
    "max_bin": "max_bins n_bins bins border_count",
    "penalty": "alpha lambda reg_lambda lambda_l2 l2 weight_decay regularization",
    "cost": "c",
    "patience": "early_stopping early_stopping_rounds estop od_wait",
    "hidden": "hidden_layer_sizes hidden_layers hidden_units",
    "iterations": "max_iter n_iter",
    "seed": "random_state random_seed",
    "ranking-svm": "svmrank svm_rank rank_svm svmlight",
    "lambdamart": "lightgbm lgbm_ranker lgbmranker xgboost xgbranker rank_xendcg rank_ndcg catboost yetirank gbdt mart",
    "apprank": "approx_ndcg approx_rank",
    "softmax": "softmax_loss softmax_cross_entropy",
    "ranknet": "rank_pairwise pairwise_logistic pair_logit",
    "mlp": "nn neural_network dnn",
}
"""Other tools' words, by podium's word for the same; suggested if podium's word is among the names."""


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 query, 2 queries."""
    return f"{n} {one if n == 1 else many or one + 's'}"


class IncompatibleError(PodiumError, ValueError):
    """Parts that are right alone do not fit together."""


class ComparisonError(PodiumError):
    """Some tasks of a comparison failed. `comparison` holds the methods that finished all theirs, if any did."""

    def __init__(self, message: str, comparison: Any) -> None:
        super().__init__(message)
        self.comparison = comparison


class ClusterError(PodiumError):
    """A cluster went away, or cannot do the work."""


class ModelFileError(PodiumError):
    """A model file is damaged, too new, or no model file."""


class IndexFileError(PodiumError):
    """An index of documents cannot be opened or changed."""


class MachineError(PodiumError):
    """A machine judge cannot be asked, or does not answer as one."""


class RequestError(PodiumError):
    """A server does not answer, or not as expected. `again`: it may do so later."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class PluginError(PodiumError):
    """Custom code, such as a loss of a plug-in, failed; the message begins with its file and line."""


class MissingPackageError(PodiumError, ImportError):
    """An optional package is not installed."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed. Run: pip install 'podium[{extra}]'")
        self.package = package


class PodiumWarning(UserWarning):
    """Base class of all warnings of podium."""


class ConvergenceWarning(PodiumWarning):
    """An iteration stopped before it had converged, or the chains of a simulation had not mixed."""


class CostWarning(PodiumWarning):
    """The computation will take minutes or more."""


def needs_memory(n_bytes: float, who: str, *, limit: float = 8e9, instead: str) -> None:
    """Raise a clear error if the work needs more memory than a workstation has."""
    if n_bytes > limit:
        raise IncompatibleError(
            f"{who} would need about {n_bytes / 1e9:.0f} GB of memory for this data (at most {limit / 1e9:.0f} are "
            f"allowed). {instead}"
        )
