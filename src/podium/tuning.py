"""Tuning: choose hyperparameters on validation data, from a method's grid or with Optuna.

    >>> from podium.methods import method
    >>> {name: dimension.where for name, dimension in space(method("lambdarank")).items()}
    {'learning_rate': (0.0003, 0.1, 'log'), 'penalty': (0.0001, 10.0, 'log')}

Each parameter declares its range, as `search` of `podium.base.registry.param`; the space of a recipe is that of its
parts together. Parameters named in a specification are not tuned. Test data is never used here.
Reference: Akiba et al., Optuna: a next-generation hyperparameter optimization framework, 2019.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, MissingPackageError, PodiumError
from podium.base.registry import Named, param, register, search_space, write
from podium.learner import Learner
from podium.methods import Method
from podium.model import Model
from podium.solvers.early_stopping import proved_better

if TYPE_CHECKING:
    from types import ModuleType

    import optuna

Fit = Callable[[Learner], tuple[Model, Array]]
"""Fits a learner: the model, with its mean on validation data as `info["valid"]`, and the value of each query."""


class Tuning(Named):
    """A way to choose hyperparameters on validation data.

    `model.info["trials"]` lists all trials, and `model.info["chosen"]` is the index of the chosen one.
    """

    kind: ClassVar[str] = "tuning"
    home: ClassVar[str] = "podium.tuning"
    rule: ClassVar[str] = "the best setting"
    """How it chooses from the trials, in a few words."""

    def fits(self, method: Method) -> int:
        """Number of fits."""
        raise NotImplementedError

    def run(self, method: Method, fit: Fit, *, seed: int) -> Model:
        """The model with the chosen hyperparameters."""
        raise NotImplementedError


@register
class Grid(Tuning):
    """Grid search: every combination of the method's grid; the best on validation data, the first of equals.

    Combinations that refuse the data, such as symmetric trees of categories, are left out; if all do, parameters of
    which the grid has a single value are as without validation data.
    Other parts in the grid, such as transforms, are tried first, with the learner's own hyperparameters: one forest
    tells as much about a transform as the mean of four, at a quarter of the cost. Another part makes another kind of
    model, which fewer engines can run, so it is chosen only if it is better by more than one standard error of the mean
    difference over queries.
    """

    name = "grid"
    rule: ClassVar[str] = "the best setting; another part, such as a transform, if better by over one standard error"

    def fits(self, method: Method) -> int:
        tried, parts = candidates(method), other_parts(method)
        again = any(learner == method.learner for learner, _ in tried)
        return len(tried) + (1 + len(parts) - again if parts else 0)

    def run(self, method: Method, fit: Fit, *, seed: int) -> Model:
        if not method.grid:
            return fit(method.learner)[0]
        if not other_parts(method):
            return _record(*_best(_tried(method, fit)))
        own = {name: getattr(method.learner, name) for name, values in method.grid.items() if _are_parts(values)}
        first = _Trial(own, method.learner, *fit(method.learner))
        part = _with_other_parts(first, [_entry(first)], 0, method=method, fit=fit)
        return _record(*_best(_tried(replace(method, learner=part[0].learner), fit, before=part[0]), before=part))


@register
class Optuna(Tuning):
    """Bayesian optimisation by Optuna's tree-structured Parzen estimator, from the method's defaults on.

    The best of many trials is partly the luckiest. So the choice is the trial nearest to the defaults among those
    within one standard error of the best: the mean difference over queries is at most its standard error. The fewer
    the validation queries, the closer to the defaults it stays. Other parts of the method's grid are tried afterwards,
    as in `grid`; a method without parameters to tune has its grid tried. Equal seeds give equal trials.
    Reference: Breiman et al., Classification and Regression Trees, 1984, section 3.4.3 (the one-standard-error rule).
    """

    trials: int = param(default=30, least=1)
    """Choices of hyperparameters that are tried."""
    name = "optuna"
    rule: ClassVar[str] = "of the trials within one standard error of the best, the one nearest to the defaults"

    def fits(self, method: Method) -> int:
        return self.trials + len(other_parts(method)) if space(method) else Grid().fits(method)

    def run(self, method: Method, fit: Fit, *, seed: int) -> Model:
        try:
            import optuna
        except ImportError:
            raise MissingPackageError("optuna", "search=optuna", "tune") from None
        dimensions = space(method)
        if not dimensions:
            return Grid().run(method, fit, seed=seed)
        with _quiet(optuna):
            study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
            _try_defaults_first(study, dimensions, method.learner)
            trials = list(_proposals(optuna, study, dimensions, method.learner, fit=fit, trials=self.trials))
        best = _within_one_standard_error(trials, dimensions, method.learner)
        return _record(*_with_other_parts(*best, method=method, fit=fit))


@dataclass(frozen=True)
class Dimension:
    """One hyperparameter to tune, and its range or choices."""

    part: str | None  # of the learner, whose field it is; None: the learner's own
    field: str
    where: tuple[Any, ...] | list[Any]  # (low, high), (low, high, "log"), or a list of choices

    def get(self, learner: Learner) -> Any:
        """The learner's value."""
        return getattr(getattr(learner, self.part) if self.part else learner, self.field)

    def put(self, learner: Learner, value: Any) -> Learner:
        """The learner with another value."""
        if self.part is None:
            return replace(learner, **{self.field: value})  # type: ignore[type-var]
        return replace(learner, **{self.part: replace(getattr(learner, self.part), **{self.field: value})})  # type: ignore[type-var]

    def propose(self, trial: optuna.Trial, name: str) -> Any:
        """Optuna's proposal."""
        if isinstance(self.where, list):
            texts = {write(value): value for value in self.where}
            return texts[trial.suggest_categorical(name, list(texts))]
        low, high, *scale = self.where
        suggest = trial.suggest_int if isinstance(low, int) else trial.suggest_float
        return suggest(name, low, high, log=bool(scale))

    def holds(self, value: Any) -> bool:
        """Whether a value is in the range, or one of the choices."""
        if isinstance(self.where, list):
            return value in self.where
        return value is not None and self.where[0] <= value <= self.where[1]

    def distance(self, a: Any, b: Any) -> float:
        """Distance of two values, as a fraction of the range; 1 for different choices."""
        if isinstance(self.where, list):
            return float(a != b)
        low, high, *scale = self.where
        position: Callable[[float], float] = math.log if scale else float
        return abs(position(a) - position(b)) / (position(high) - position(low))


def space(method: Method) -> dict[str, Dimension]:
    """The hyperparameters of a method by name, as `part.name` if several parts have the name."""
    dimensions = [Dimension(None, name, where) for name, where in search_space(type(method.learner)).items()]
    for field in fields(method.learner):  # type: ignore[arg-type]
        part = getattr(method.learner, field.name)
        if isinstance(part, Named):
            dimensions += [Dimension(field.name, name, where) for name, where in search_space(type(part)).items()]
    dimensions = [dimension for dimension in dimensions if dimension.field not in method.fixed]
    counts = Counter(dimension.field for dimension in dimensions)
    return {d.field if counts[d.field] == 1 else f"{d.part}.{d.field}": d for d in dimensions}


def format_setting(value: Any) -> str:
    """The value of a hyperparameter, numbers with few digits."""
    return f"{value:.4g}" if isinstance(value, float) else write(value)


def candidates(method: Method) -> list[tuple[Learner, dict[str, Any]]]:
    """The learner with every combination of hyperparameters in its grid; other parts are left out."""
    grid = {name: values for name, values in method.grid.items() if not _are_parts(values)}
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return [(method.learner.changed(_texts(values)), values) for values in combinations]


def other_parts(method: Method) -> list[dict[str, Named]]:
    """The parts in a method's grid that its learner does not have already."""
    return [
        {name: value}
        for name, values in method.grid.items()
        if _are_parts(values)
        for value in values
        if value != getattr(method.learner, name)
    ]


def _are_parts(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, Named) for value in values)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: write(value) for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class _Trial:
    parameters: dict[str, Any]  # the hyperparameters tried
    learner: Learner
    model: Model
    values: Array  # (Q,) of the metric, for each validation query


Choice = tuple[_Trial, list[dict[str, Any]], int]
"""The chosen trial, the record of all trials, and the index of the chosen one there."""


def _tried(method: Method, fit: Fit, *, before: _Trial | None = None) -> Iterator[_Trial]:
    """A trial of every combination in the grid that takes the data; if none does, of those without single values.

    The learner of the trial `before` is not fitted again.
    """
    part = {} if before is None else before.parameters

    def trial(learner: Learner, values: dict[str, Any]) -> _Trial:
        if before is not None and learner == before.learner:
            return replace(before, parameters=values | part)
        return _Trial(values | part, learner, *fit(learner))

    fitted = False
    for learner, values in candidates(method):
        try:
            yield trial(learner, values)
        except IncompatibleError:
            continue
        fitted = True
    if not fitted:
        choices = {name: values for name, values in method.grid.items() if len(values) > 1}
        yield from (trial(*candidate) for candidate in candidates(replace(method, grid=choices)))


def _best(trials: Iterator[_Trial], *, before: Choice | None = None) -> Choice:
    """The best on validation data, the first of equals; only its model is kept in memory.

    The trial chosen `before` may come again; it keeps its place in the record, which has each fit once, in their order.
    """
    best: _Trial | None = None
    records = [] if before is None else list(before[1])
    for trial in trials:
        number = before[2] if before is not None and trial.model is before[0].model else len(records)
        records[number : number + 1] = [_entry(trial)]
        if best is None or trial.model.info["valid"] > best.model.info["valid"]:
            best, chosen = trial, number
    assert best is not None, "a grid has at least one combination"
    return best, records, chosen


def _within_one_standard_error(trials: list[_Trial], dimensions: dict[str, Dimension], default: Learner) -> Choice:
    """The trial nearest to the default parameters that is not proved worse than the best."""
    best = max(trials, key=lambda trial: trial.model.info["valid"])
    tuned = [dimension for dimension in dimensions.values() if dimension.holds(dimension.get(default))]

    def distance(t: int) -> float:
        return math.hypot(*(d.distance(d.get(trials[t].learner), d.get(default)) for d in tuned))

    good = [t for t, trial in enumerate(trials) if not proved_better(best.values, trial.values)]
    chosen = min(good, key=distance)
    return trials[chosen], [_entry(trial) for trial in trials], chosen


def _with_other_parts(best: _Trial, records: list[dict[str, Any]], chosen: int, *, method: Method, fit: Fit) -> Choice:
    """The chosen trial, or one with another part that is proved better."""
    for part in other_parts(method):
        learner, parameters = best.learner.changed(_texts(part)), {**best.parameters, **part}
        try:
            trial = _Trial(parameters, learner, *fit(learner))
        except IncompatibleError:  # trees on a cluster take features as they are
            continue
        records.append(_entry(trial))
        if proved_better(trial.values, best.values):
            best, chosen = trial, len(records) - 1
    return best, records, chosen


def _record(best: _Trial, records: list[dict[str, Any]], chosen: int) -> Model:
    """The model of the chosen trial, with all trials in its info."""
    return best.model.with_info(trials=records, chosen=chosen)


def _entry(trial: _Trial) -> dict[str, Any]:
    """What the model's info keeps of a trial."""
    plain = {
        name: value if isinstance(value, int | float) else write(value) for name, value in trial.parameters.items()
    }
    return {**plain, "valid": trial.model.info["valid"]}


def _try_defaults_first(study: optuna.Study, dimensions: dict[str, Dimension], learner: Learner) -> None:
    """Enqueue the learner's own values, if they are within the ranges."""
    own = {name: dimension.get(learner) for name, dimension in dimensions.items()}
    inside = {name: value for name, value in own.items() if dimensions[name].holds(value)}
    study.enqueue_trial(
        {name: write(value) if isinstance(dimensions[name].where, list) else value for name, value in inside.items()}
    )


def _proposals(
    optuna: ModuleType,
    study: optuna.Study,
    dimensions: dict[str, Dimension],
    learner: Learner,
    *,
    fit: Fit,
    trials: int,
) -> Iterator[_Trial]:
    """Optuna's proposals, fitted. Proposals that cannot be fitted are skipped, unless all fail."""
    failed: PodiumError | None = None
    fitted = 0
    for _ in range(trials):
        trial = study.ask()
        parameters = {name: dimension.propose(trial, name) for name, dimension in dimensions.items()}
        changed = learner
        try:
            for name, dimension in dimensions.items():
                changed = dimension.put(changed, parameters[name])
            model, values = fit(changed)
        except PodiumError as error:
            failed = error
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        fitted += 1
        study.tell(trial, model.info["valid"])
        yield _Trial(parameters, changed, model, values)
    if not fitted and failed is not None:
        raise failed


@contextmanager
def _quiet(optuna: ModuleType) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
