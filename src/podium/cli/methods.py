"""`podium methods`: list methods and parts, and explain each one."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
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
            help="A method or part to explain, or a kind of part to list: loss, metric, scorer, solver, feature …",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the methods, or the parts of a kind; explain a method, loss, metric, scorer, or any other part."""
    if name is None:
        _list()
    elif _kind(name) is not None:
        _list_parts(name)
    else:
        _explain(name)


def _list() -> None:
    """List the methods by family, and the kinds of parts, without importing the methods' parts."""
    from podium.methods import METHODS, OF_METHODS, OF_OTHER_DATA

    rows = list(METHODS.summaries())
    for family in dict.fromkeys(family for family, _, _ in rows):
        console.out(f"\n{family}")
        console.print_table(["method", "what it is"], [[name, summary] for own, name, summary in rows if own == family])
    console.out("\nof other methods, e.g. 'bagged(of=lambdamart)'")
    console.print_table(["method", "what it is"], [[name, summary] for name, summary in OF_METHODS.items()])
    console.out("\nof links or topics")
    console.print_table(["method", "what it is"], [[name, summary] for name, summary in OF_OTHER_DATA.items()])
    console.out("\nExplain one (formula, ties, cost, use, parameters): podium methods NAME")
    console.out("Change it: 'listnet(penalty=0.1)', 'listnet(scorer=mlp)'. Parts, by kind: podium methods KIND")
    console.out(f"kinds: {', '.join(KINDS)}")


def _list_parts(name: str) -> None:
    kind = _kind(name)
    assert kind is not None
    parts = kind.catalogue().items()
    console.print_table([kind.kind, "what it is"], [[part, _first_line(cls.__doc__)] for part, cls in parts])


def _explain(text: str) -> None:
    from podium.base.errors import UnknownNameError
    from podium.base.registry import split_call
    from podium.methods import METHODS, method
    from podium.metrics import Metric

    name, _ = split_call(text)
    if name in METHODS:
        _method_page(name, method(text))
        return
    kinds = [base_class(kind) for kind in KINDS]
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


KINDS = {
    "learner": "podium.learner:Learner",
    "loss": "podium.losses:Loss",
    "scorer": "podium.scorers:Scorer",
    "solver": "podium.solvers:Solver",
    "transform": "podium.transforms:Transform",
    "distribution": "podium.distributions:RankingDistribution",
    "metric": "podium.metrics:Metric",
    "tuning": "podium.tuning:Tuning",
    "aggregator": "podium.aggregation:Aggregator",
    "supervised aggregator": "podium.aggregation:SupervisedAggregator",
    "reranker": "podium.rerankers:Reranker",
    "picker": "podium.pickers:Picker",
    "retrieval": "podium.text.retrieval:Retrieval",
    "feature": "podium.text.features:Feature",
    "click model": "podium.clicks:ClickModel",
    "labelling": "podium.clicks.labellings.base:Labelling",
    "behaviour feature": "podium.clicks.behaviour:BehaviourFeature",
    "propensity estimator": "podium.propensities:Estimator",
    "interleaving": "podium.online.interleaving:Interleaving",
    "online learner": "podium.online.learning.base:OnlineLearner",
    "target": "podium.export:Target",
}
"""Kinds of parts, and where the base class of each is."""


_WIDEST = 40
"""Most columns up to which meanings of parameters are in line."""


def _kind(text: str) -> type[Named] | None:
    """The kind of part that a word names, in singular or plural; None if it is none."""
    word = text.strip().lower()
    plurals = {kind: (f"{kind}s", f"{kind}es") for kind in KINDS}
    singular = next((kind for kind in KINDS if word == kind or word.replace("-", " ") in plurals[kind]), None)
    return None if singular is None else base_class(singular)


def base_class(kind: str) -> type[Named]:
    """The base class of a kind of part, whose catalogue has all of that kind."""
    module, _, name = KINDS[kind].partition(":")
    base: type[Named] = getattr(importlib.import_module(module), name)
    return base


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
        console.out(f"searched by optuna        {hyperparameter}: {in_words(dimension.where)}")
    if not isinstance(learner, Recipe):
        _parameters(learner)
        return
    for part in (getattr(learner, field.name) for field in dataclasses.fields(learner)):
        console.out(f"\n{part.kind} {part.name}: {_first_line(type(part).__doc__)}")
        _parameters(part)
        if part.kind == "loss":
            _print_facts(part)


def in_words(where: tuple[Any, ...] | list[Any]) -> str:
    """Values of a hyperparameter that tuning tries, in words."""
    from podium.base.registry import write

    if isinstance(where, list):
        return ", ".join(map(write, where))
    low, high, *scale = where
    return f"{low:g} to {high:g}" + (", logarithmic" if scale else "")


def _page(cls: type[Named], title: str) -> None:
    from podium.base.registry import write

    console.out(f"{title}\n\n{documentation(cls)}\n")
    fields = [field for field in dataclasses.fields(cls) if field.name != "convention"]  # type: ignore[arg-type]
    missing = dataclasses.MISSING  # podium reconcile explains the convention of a metric
    _print_parameters(
        cls, {field.name: "(must be given)" if field.default is missing else write(field.default) for field in fields}
    )
    if cls.kind == "loss":
        _print_facts(cls())


def documentation(cls: type[Named]) -> str:
    """Docstring of a class, or that of its module if only that one has the headings."""
    module, own = sys.modules[cls.__module__].__doc__ or "", cls.__doc__ or ""
    return inspect.cleandoc(module if "Formula:" in module and "Formula:" not in own else own)


def facts(loss: Any) -> tuple[list[str], list[str]]:
    """What a loss guarantees for metrics, and the metrics for which its best scores rank best, in words."""
    bounds = loss.bounds()
    guaranteed = [f"{bound}, if grades are 0 and 1" if bound.two_grades else str(bound) for bound in bounds]
    if any(bound.metric == "ndcg" and "K·" in bound.formula for bound in bounds):
        notation = "P the pairs of different grades, R the relevant documents"
        guaranteed.append(f"K = (G_max − G_min)(D(1) − D(n))/IDCG, {notation}")
    consistent = [", ".join(loss.consistent_for()) or "none known"]
    if loss.convex:
        consistent.append("no convex loss is consistent for map, err or, with several grades, pair-accuracy")
    return guaranteed or ["none known"], consistent


def _print_facts(loss: Any) -> None:
    console.out("")
    for heading, lines in zip(("bounds", "consistent for"), facts(loss), strict=True):
        for k, line in enumerate(lines):
            console.out(f"{'' if k else heading:<15} {line}")


def _parameters(part: Named) -> None:
    """Print the parameters of a part with their values."""
    from podium.base.registry import field_types, write

    _print_parameters(type(part), {name: write(getattr(part, name)) for name in field_types(type(part))})


def _print_parameters(cls: type[Named], values: dict[str, str]) -> None:
    """Print parameters with their values, meanings and ranges."""
    from podium.cli.parameters import bounds, meanings

    explained, fields = meanings(cls), {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    width = max((len(f"{name} = {value}") for name, value in values.items()), default=0)
    for name, value in values.items():
        limits = bounds(fields[name])
        words = " ".join(" ".join([explained.get(name, ""), f"({limits})" if limits else ""]).split())
        console.out(f"  {f'{name} = {value}':<{min(width, _WIDEST)}}  {words}".rstrip())


def _first_line(page: str | None) -> str:
    return (inspect.cleandoc(page or "").splitlines() or [""])[0]
