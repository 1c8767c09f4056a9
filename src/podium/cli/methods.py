"""`podium methods`: list all methods and parts, and explain each one."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli import console

if TYPE_CHECKING:
    from podium.base.registry import Named
    from podium.methods import Method


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A method, or a part: a loss, scorer, solver, transform, metric, tuning, aggregator …",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the methods, or explain one; also losses, scorers, solvers, metrics and every other part."""
    if name is None:
        _list()
    else:
        _explain(name)


def _list() -> None:
    from podium.methods import METHODS

    for family in dict.fromkeys(method.family for method in METHODS.values()):
        console.out(f"\n{family}")
        rows = [
            [name, _first_line(method.page()), repr(method.learner)]
            for name, method in METHODS.items()
            if method.family == family
        ]
        console.print_table(["method", "what it does", "recipe"], rows)
    console.out("\nparts")
    console.print_table(["kind", "names"], [[kind.kind, ", ".join(kind.catalogue())] for kind in _kinds()])
    console.out("\nDocs of one: podium methods NAME. With changes: 'listnet(scorer=mlp)', 'listnet(penalty=0.1)'.")


def _explain(text: str) -> None:
    from podium.base.errors import UnknownNameError
    from podium.base.registry import split_call
    from podium.methods import METHODS, method
    from podium.metrics import Metric

    name, _ = split_call(text)
    if name in METHODS:
        _method_page(name, method(text))
        return
    kinds = _kinds()
    parts = [kind.catalogue()[name] for kind in kinds if name in kind.catalogue()]
    for cls in parts:  # a distribution and an aggregator may share a name
        if cls is not parts[0]:
            console.out("")
        _page(cls, f"{name}: {'an' if cls.kind[0] in 'aeiou' else 'a'} {cls.kind}")
    if parts:
        return
    try:
        metric = Metric.parse(text)
    except UnknownNameError:
        names = {*METHODS, *(names for kind in kinds for names in kind.catalogue())}
        raise UnknownNameError("method or part", name, names, see="podium methods") from None
    _page(type(metric), f"{metric}: a metric, in full {metric.tag()}")


def _kinds() -> list[type[Named]]:
    from podium.aggregation import Aggregator, SupervisedAggregator
    from podium.clicks import ClickModel
    from podium.clicks.labellings.base import Labelling
    from podium.distributions import RankingDistribution
    from podium.export import Target
    from podium.learner import Learner
    from podium.losses import Loss
    from podium.metrics import Metric
    from podium.online.interleaving import Interleaving
    from podium.online.learning.base import OnlineLearner
    from podium.propensities import Estimator
    from podium.scorers import Scorer
    from podium.solvers import Solver
    from podium.text.features import Feature
    from podium.text.retrieval import Retrieval
    from podium.transforms import Transform
    from podium.tuning import Tuning

    parts: list[type[Named]] = [Learner, Loss, Scorer, Solver, Transform, RankingDistribution]
    parts += [Metric, Tuning, Aggregator, SupervisedAggregator, Retrieval, Feature]
    parts += [ClickModel, Labelling, Estimator, Interleaving, OnlineLearner, Target]
    return parts


def _method_page(name: str, method: Method) -> None:
    from podium.base.registry import write
    from podium.recipe import Recipe
    from podium.tuning import space

    learner = method.learner
    console.out(f"{name}: {method.family}\n\n{method.page()}\n")
    console.out(f"recipe  {learner!r}")
    for hyperparameter, values in method.grid.items():
        console.out(f"tried on validation data  {hyperparameter}: {', '.join(map(write, values))}")
    for hyperparameter, dimension in space(method).items():
        console.out(f"searched by optuna        {hyperparameter}: {_where(dimension.where)}")
    if not isinstance(learner, Recipe):
        _parameters(learner)
        return
    for part in (getattr(learner, field.name) for field in dataclasses.fields(learner)):
        console.out(f"\n{part.kind} {part.name}: {_first_line(type(part).__doc__)}")
        _parameters(part)


def _where(where: tuple[Any, ...] | list[Any]) -> str:
    """Values of a hyperparameter that tuning tries, in words."""
    from podium.base.registry import write

    if isinstance(where, list):
        return ", ".join(map(write, where))
    low, high, *scale = where
    return f"{low:g} to {high:g}" + (", logarithmic" if scale else "")


def _page(cls: type[Named], title: str) -> None:
    from podium.base.registry import write

    console.out(f"{title}\n\n{inspect.cleandoc(cls.__doc__ or '')}\n")
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        value = "(must be given)" if field.default is dataclasses.MISSING else write(field.default)
        console.out(f"  {field.name} = {value}")


def _parameters(part: Named) -> None:
    """Print the parameters of a part with their values."""
    from podium.base.registry import field_types, write

    for name in field_types(type(part)):
        console.out(f"  {name} = {write(getattr(part, name))}")


def _first_line(page: str | None) -> str:
    return (inspect.cleandoc(page or "").splitlines() or [""])[0]
