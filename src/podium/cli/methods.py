"""`podium methods`: what there is, and a page about each thing."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli import console

if TYPE_CHECKING:
    from podium.methods import Method
    from podium.registry import Named


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A method, loss, scorer, solver, transform, metric or aggregator to explain.", show_default=False
        ),
    ] = None,
) -> None:
    """List the methods, or explain one; also losses, scorers, solvers, transforms, metrics and aggregators."""
    if name is None:
        _list()
    else:
        _explain(name)


def _list() -> None:
    from podium.methods import METHODS

    for family in dict.fromkeys(found.family for found in METHODS.values()):
        console.out(f"\n{family}")
        rows = [
            [name, _summary(type(found.about())), repr(found.learner)]
            for name, found in METHODS.items()
            if found.family == family
        ]
        console.print_table(["method", "what it does", "recipe"], rows)
    console.out("\nparts")
    console.print_table(["kind", "names"], [[kind.kind, ", ".join(kind.catalogue())] for kind in _kinds()])
    console.out("\nA page about one: podium methods NAME. With changes: 'listnet(scorer=mlp)', 'listnet(penalty=0.1)'.")


def _explain(text: str) -> None:
    from podium.errors import UnknownNameError
    from podium.methods import METHODS, method
    from podium.metrics import Metric
    from podium.registry import split_call

    name, _ = split_call(text)
    if name in METHODS:
        _method_page(name, method(text))
        return
    kinds = _kinds()
    for kind in kinds:
        if name in kind.catalogue():
            _page(kind.catalogue()[name], f"{name}: {'an' if kind.kind[0] in 'aeiou' else 'a'} {kind.kind}")
            return
    try:
        metric = Metric.parse(text)
    except UnknownNameError:
        known = {*METHODS, *(known for kind in kinds for known in kind.catalogue())}
        raise UnknownNameError("method or part", name, known, see="podium methods") from None
    _page(type(metric), f"{metric}: a metric, in full {metric.tag()}")


def _kinds() -> list[type[Named]]:
    from podium.aggregation import Aggregator, SupervisedAggregator
    from podium.losses import Loss
    from podium.metrics import Metric
    from podium.scorers import Scorer
    from podium.solvers import Solver
    from podium.transforms import Transform

    return [Loss, Scorer, Solver, Transform, Metric, Aggregator, SupervisedAggregator]


def _method_page(name: str, found: Method) -> None:
    from podium.recipe import Recipe
    from podium.search import space

    learner = found.learner
    console.out(f"{name}: {found.family}\n\n{found.page()}\n")
    console.out(f"recipe  {learner!r}")
    for setting, values in found.grid.items():
        console.out(f"tried on validation data  {setting}: {', '.join(f'{value:g}' for value in values)}")
    for setting, one in space(found).items():
        console.out(f"searched by optuna        {setting}: {_where(one.where)}")
    if not isinstance(learner, Recipe):
        _parameters(learner)
        return
    for part in (getattr(learner, field.name) for field in dataclasses.fields(learner)):
        console.out(f"\n{part.kind} {part.name}: {_summary(type(part))}")
        _parameters(part)


def _where(where: tuple[Any, ...] | list[Any]) -> str:
    """Where a search looks, in words."""
    from podium.registry import write

    if isinstance(where, list):
        return ", ".join(map(write, where))
    low, high, *scale = where
    return f"{low:g} to {high:g}" + (", logarithmic" if scale else "")


def _page(cls: type[Named], title: str) -> None:
    console.out(f"{title}\n\n{inspect.cleandoc(cls.__doc__ or '')}\n")
    _parameters(cls())


def _parameters(part: Named) -> None:
    """The parameters of a part with their values."""
    from podium.registry import field_types, write

    for name in field_types(type(part)):
        console.out(f"  {name} = {write(getattr(part, name))}")


def _summary(cls: type) -> str:
    return (inspect.cleandoc(cls.__doc__ or "").splitlines() or [""])[0]
