"""Tuning: choose settings on validation data, from a method's grid or from Optuna's proposals.

    >>> from podium.methods import method
    >>> {name: one.where for name, one in space(method("lambdarank")).items()}
    {'learning_rate': (0.0003, 0.1, 'log'), 'penalty': (0.0001, 10.0, 'log')}

Each parameter says where Optuna looks, as `search` of `podium.base.registry.param`; the space of a recipe is that of
its parts together. What a specification names is not searched. Test data is out of reach here.
Reference: Akiba et al., Optuna: a next-generation hyperparameter optimization framework, 2019.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, MissingPackageError, PodiumError
from podium.base.registry import Named, param, register, search_space, write
from podium.learner import Learner
from podium.methods import Method
from podium.model import Model
from podium.solvers.early_stopping import proved_better

Fit = Callable[[Learner], tuple[Model, Array]]
"""Fits a learner on training data: the model, `info["valid"]` its mean on validation data, and each query's value."""


class Tuning(Named):
    """A way to choose settings on validation data.

    `model.info["trials"]` lists what was tried, and `model.info["chosen"]` is the number of the one that was chosen.
    """

    kind: ClassVar[str] = "search"
    home: ClassVar[str] = "podium.tuning"
    rule: ClassVar[str] = "the best setting"
    """How it chooses from the trials, in a few words."""

    def fits(self, chosen: Method) -> int:
        """The number of fits it takes."""
        raise NotImplementedError

    def run(self, chosen: Method, fit: Fit, *, seed: int) -> Model:
        """The model with the chosen settings."""
        raise NotImplementedError


@register
class Grid(Tuning):
    """Every combination of the method's grid; the best on validation data is chosen, ties go to the first.

    Other parts in the grid, such as transforms, are tried after that, with the settings so chosen. Another part makes
    another kind of model, which fewer engines can run, so it is taken only where it is better by more than one standard
    error of the mean difference over queries.
    """

    name = "grid"
    rule: ClassVar[str] = "the best setting; another part, such as a transform, if better by over one standard error"

    def fits(self, chosen: Method) -> int:
        return len(candidates(chosen)) + len(other_parts(chosen))

    def run(self, chosen: Method, fit: Fit, *, seed: int) -> Model:
        if not chosen.grid:
            return fit(chosen.learner)[0]
        tried = ((learner, settings, *fit(learner)) for learner, settings in candidates(chosen))
        return _with_other_parts(*_best(tried), chosen=chosen, fit=fit)


@register
class Optuna(Tuning):
    """Proposals of a tree-structured Parzen estimator, after the method's own settings; the same with the same seed.

    The best of many trials is partly the luckiest. Chosen are the settings nearest to the method's own among those
    within one standard error of the best: the mean difference over queries is at most its standard error. So a search
    on few queries moves only as far as they prove. Then come the other parts of the method's grid, as in `grid`. A
    method without parameters to search has its grid tried.
    Reference: Breiman et al., Classification and Regression Trees, 1984, section 3.4.3 (the one-standard-error rule).
    """

    trials: int = param(default=30, least=1)
    name = "optuna"
    rule: ClassVar[str] = "of the settings within one standard error of the best, the one nearest to the method's own"

    def fits(self, chosen: Method) -> int:
        return self.trials + len(other_parts(chosen)) if space(chosen) else Grid().fits(chosen)

    def run(self, chosen: Method, fit: Fit, *, seed: int) -> Model:
        try:
            import optuna
        except ImportError:
            raise MissingPackageError("optuna", "search=optuna", "tune") from None
        where = space(chosen)
        if not where:
            return Grid().run(chosen, fit, seed=seed)
        with _quiet(optuna):
            study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
            _begin_with_own(study, where, chosen.learner)
            tried = list(_proposals(optuna, study, where, chosen.learner, fit=fit, trials=self.trials))
        return _with_other_parts(*_within_one_standard_error(tried, where, chosen.learner), chosen=chosen, fit=fit)


@dataclass(frozen=True)
class Dimension:
    """One parameter to search: of which part of the learner (none: its own), and where."""

    part: str | None
    field: str
    where: tuple[Any, ...] | list[Any]

    def get(self, learner: Learner) -> Any:
        """The learner's value."""
        return getattr(getattr(learner, self.part) if self.part else learner, self.field)

    def put(self, learner: Learner, value: Any) -> Learner:
        """The learner with another value."""
        if self.part is None:
            return replace(learner, **{self.field: value})  # type: ignore[type-var]
        return replace(learner, **{self.part: replace(getattr(learner, self.part), **{self.field: value})})  # type: ignore[type-var]

    def propose(self, trial: Any, name: str) -> Any:
        """Optuna's proposal."""
        if isinstance(self.where, list):
            texts = {write(value): value for value in self.where}
            return texts[trial.suggest_categorical(name, list(texts))]
        low, high, *scale = self.where
        suggest = trial.suggest_int if isinstance(low, int) else trial.suggest_float
        return suggest(name, low, high, log=bool(scale))

    def holds(self, value: Any) -> bool:
        """Whether a value lies where the search looks."""
        if isinstance(self.where, list):
            return value in self.where
        return value is not None and self.where[0] <= value <= self.where[1]

    def distance(self, a: Any, b: Any) -> float:
        """The distance of two values, as a share of where the search looks."""
        if isinstance(self.where, list):
            return float(a != b)
        low, high, *scale = self.where
        place: Callable[[float], float] = math.log if scale else float
        return abs(place(a) - place(b)) / (place(high) - place(low))


def space(chosen: Method) -> dict[str, Dimension]:
    """What can be searched of a method, by name; with its part before it where several parts have the name."""
    found = [Dimension(None, name, where) for name, where in search_space(type(chosen.learner)).items()]
    for field in fields(chosen.learner):  # type: ignore[arg-type]
        part = getattr(chosen.learner, field.name)
        if isinstance(part, Named):
            found += [Dimension(field.name, name, where) for name, where in search_space(type(part)).items()]
    found = [one for one in found if one.field not in chosen.fixed]
    often = Counter(one.field for one in found)
    return {one.field if often[one.field] == 1 else f"{one.part}.{one.field}": one for one in found}


def candidates(chosen: Method) -> list[tuple[Learner, dict[str, Any]]]:
    """The learner with every combination of its grid's settings, and no other parts."""
    learner = chosen.learner
    grid = {name: values for name, values in chosen.grid.items() if not _of_parts(values)}
    made: list[tuple[Learner, dict[str, Any]]] = []
    for values in itertools.product(*grid.values()):
        settings = dict(zip(grid, values, strict=True))
        made.append((learner.changed({k: write(v) for k, v in settings.items()}), settings))
    return made


def other_parts(chosen: Method) -> list[dict[str, Named]]:
    """The parts in a method's grid that its learner does not have already."""
    return [
        {name: value}
        for name, values in chosen.grid.items()
        if _of_parts(values)
        for value in values
        if value != getattr(chosen.learner, name)
    ]


def _of_parts(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, Named) for value in values)


def _best(models: Iterator[tuple[Learner, dict[str, Any], Model, Array]]) -> Chosen:
    """The best by validation data, ties go to the first; only this model is kept in memory."""
    best: _Trial | None = None
    trials: list[dict[str, Any]] = []
    for learner, settings, model, values in models:
        if best is None or model.info["valid"] > best.model.info["valid"]:
            best, chosen = _Trial(settings, learner, model, values), len(trials)
        trials.append({**settings, "valid": model.info["valid"]})
    assert best is not None, "a search that finds nothing raises"
    return best, trials, chosen


@dataclass(frozen=True, eq=False)
class _Trial:
    settings: dict[str, Any]
    learner: Learner
    model: Model
    values: Array  # (Q,) of each validation query


Chosen = tuple[_Trial, list[dict[str, Any]], int]
"""What was chosen, all that was tried, and its number there."""


def _within_one_standard_error(tried: list[_Trial], where: dict[str, Dimension], own: Learner) -> Chosen:
    """The trial nearest to the learner's own settings that is not proved worse than the best."""
    best = max(tried, key=lambda trial: trial.model.info["valid"])
    searched = [one for one in where.values() if one.holds(one.get(own))]

    def distance(t: int) -> float:
        return math.hypot(*(one.distance(one.get(tried[t].learner), one.get(own)) for one in searched))

    good = [t for t, trial in enumerate(tried) if not proved_better(best.values, trial.values)]
    chosen = min(good, key=distance)
    trials = [{**_plain(trial.settings), "valid": trial.model.info["valid"]} for trial in tried]
    return tried[chosen], trials, chosen


def _with_other_parts(best: _Trial, trials: list[dict[str, Any]], number: int, *, chosen: Method, fit: Fit) -> Model:
    """The model of the chosen settings, or that with another part which is proved better; with all that was tried."""
    for part in other_parts(chosen):
        learner, settings = best.learner.changed({name: write(value) for name, value in part.items()}), best.settings
        try:
            model, values = fit(learner)
        except IncompatibleError:  # trees on a cluster take features as they are
            continue
        trials.append({**_plain({**settings, **part}), "valid": model.info["valid"]})
        if proved_better(values, best.values):
            best, number = _Trial({**settings, **part}, learner, model, values), len(trials) - 1
    return best.model.with_info(trials=trials, chosen=number)


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, int | float) else write(value) for name, value in settings.items()}


def _begin_with_own(study: Any, where: dict[str, Dimension], learner: Learner) -> None:
    """Have the learner's own settings tried first, as far as the search looks there."""
    own = {name: one.get(learner) for name, one in where.items()}
    inside = {name: value for name, value in own.items() if where[name].holds(value)}
    study.enqueue_trial(
        {name: write(value) if isinstance(where[name].where, list) else value for name, value in inside.items()}
    )


def _proposals(
    optuna: Any, study: Any, where: dict[str, Dimension], learner: Learner, *, fit: Fit, trials: int
) -> Iterator[_Trial]:
    """What Optuna proposes, fitted. Settings that cannot be fitted are passed over, unless none can."""
    failed: PodiumError | None = None
    fitted = 0
    for _ in range(trials):
        trial = study.ask()
        settings = {name: one.propose(trial, name) for name, one in where.items()}
        changed = learner
        try:
            for name, one in where.items():
                changed = one.put(changed, settings[name])
            model, values = fit(changed)
        except PodiumError as error:
            failed = error
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        fitted += 1
        study.tell(trial, model.info["valid"])
        yield _Trial(settings, changed, model, values)
    if not fitted and failed is not None:
        raise failed


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
