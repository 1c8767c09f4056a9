"""One page for each named method and each registered thing, and one table for each kind."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from podium.base.registry import Named, write
from podium.cli.methods import KINDS, base_class, documentation, facts, in_words
from podium.methods import METHODS, OF_METHODS, OF_OTHER_DATA, Method, method
from podium.recipe import Recipe
from podium.tuning import space

from .docstrings import as_markdown, first_sentence
from .markdown import block, code, escaped, page, table, toctree
from .parameters import parameters

_OHSUMED = Path(__file__).parents[2] / "benchmarks" / "ohsumed" / "table.md"


def pages() -> dict[str, str]:
    """Pages of methods and of every kind of part, by path."""
    written = {"methods/index.md": _methods()}
    written |= {f"methods/{name}.md": _method(name, method(name)) for name in METHODS}
    for kind in KINDS:
        things = things_of(kind)
        written[f"{folder(kind)}/index.md"] = _kind(kind, things)
        written |= {f"{folder(kind)}/{name}.md": _thing(kind, name, cls) for name, cls in things.items()}
    return written


def things_of(kind: str) -> dict[str, type[Named]]:
    """Registered classes of a kind by name, without those of plug-ins."""
    things = base_class(kind).catalogue()
    return {name: cls for name, cls in things.items() if cls.__module__.startswith("podium.")}


def folder(kind: str) -> str:
    """Folder of the pages of a kind: losses for loss, click-models for click model."""
    return (f"{kind}es" if kind.endswith("s") else f"{kind}s").replace(" ", "-")


def _methods() -> str:
    rows = list(METHODS.summaries())
    sections = []
    for family in dict.fromkeys(family for family, _, _ in rows):
        own = [[f"[{code(name)}]({name}.md)", escaped(summary)] for of, name, summary in rows if of == family]
        sections.append(f"## {family[:1].upper()}{family[1:]}\n\n{table(['method', 'what it is'], own)}")
    for title, others in (("Of other methods", OF_METHODS), ("Of links or topics", OF_OTHER_DATA)):
        own = [[code(name), escaped(summary)] for name, summary in others.items()]
        sections.append(f"## {title}\n\n{table(['method', 'what it is'], own)}")
    return page(
        "# Methods",
        "A method of the literature is a recipe of a loss, a scorer, a solver and a transform, or a learner of its "
        "own. Train one by its name; change its parameters or parts in brackets: `listnet(penalty=0.1)`, "
        "`listnet(scorer=mlp)`. Each is explained by `podium methods NAME` as well.",
        *sections,
        toctree(sorted(name for _, name, _ in rows)),
    )


def _method(name: str, method: Method) -> str:
    learner = method.learner
    return page(
        f"# {escaped(name)}",
        f"Family: {escaped(method.family)}. In a phrase: {escaped(method.summary or first_sentence(method.page()))}.",
        block(f"podium train DATA --method {name} -o model.podium", "sh"),
        as_markdown(method.page()),
        "## Recipe",
        block(repr(learner)),
        _choices(method),
        *(_parts_of(learner) if isinstance(learner, Recipe) else ["## Parameters", parameters(type(learner), learner)]),
        _benchmark(name),
    )


def _benchmark(name: str) -> str:
    """The row of a method in the table of OHSUMED, if it has one."""
    lines = _OHSUMED.read_text(encoding="utf-8").splitlines()
    heads = next(line for line in lines if line.startswith("| method |"))
    row = next((line for line in lines[lines.index(heads) :] if line.startswith(f"| {name} |")), None)
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in (heads, row or heads)]
    said = "Means over the five folds of OHSUMED: [all methods](../../benchmarks/ohsumed/table.md)."
    return "" if row is None else f"## Benchmark\n\n{said}\n\n{table(cells[0], cells[1:])}"


def _choices(method: Method) -> str:
    searched = {name: in_words(dimension.where) for name, dimension in space(method).items()}
    tried = {name: ", ".join(map(write, values)) for name, values in method.grid.items()}
    rows = [
        [code(name), escaped(tried.get(name, "")), escaped(searched.get(name, ""))]
        for name in dict.fromkeys([*tried, *searched])
    ]
    head = ["hyperparameter", "grid: tried on validation data", "range that Optuna searches"]
    return f"## Tuning\n\n{table(head, rows)}" if rows else ""


def _parts_of(recipe: Recipe) -> list[str]:
    sections = []
    for part in (getattr(recipe, field.name) for field in dataclasses.fields(recipe)):
        link = f"../{folder(part.kind)}/{part.name}.md"
        sections.append(f"## {part.kind.capitalize()}: [{escaped(part.name)}]({link})")
        sections.append(escaped(first_sentence(type(part).__doc__)))
        sections.append(parameters(type(part), part))
        sections.append(_facts(part) if part.kind == "loss" else "")
    return sections


def _kind(kind: str, things: dict[str, type[Named]]) -> str:
    base = base_class(kind)
    rows = [[f"[{code(name)}]({name}.md)", escaped(first_sentence(cls.__doc__))] for name, cls in things.items()]
    title = folder(kind).replace("-", " ").capitalize()
    return page(f"# {title}", as_markdown(base.__doc__), table([kind, "what it is"], rows), toctree(things))


def _thing(kind: str, name: str, cls: type[Named]) -> str:
    return page(
        f"# {escaped(name)}",
        f"A kind of [{kind}](index.md); in Python {code(f'{cls.__module__}.{cls.__qualname__}')}.",
        as_markdown(documentation(cls)),
        "## Parameters",
        parameters(cls),
        _facts(cls()) if kind == "loss" else "",
        _other_tools(cls) if kind == "metric" else "",
        _methods_with(kind, name),
    )


def _facts(loss: Any) -> str:
    bounds, consistent = facts(loss)
    return page(
        "## Bounds and consistency",
        "What a value L of the loss guarantees:",
        block("\n".join(bounds)),
        f"Consistent for (the best scores rank best): {escaped('; '.join(consistent))}.",
    ).strip()


def _other_tools(cls: Any) -> str:
    """What other tools call a metric, and the conventions that they use for it."""
    spellings, conventions = cls.names.spellings, cls.conventions
    same = [code(spelling) for spelling, stated in spellings.items() if not stated]
    changed = [[code(spelling), _stated(stated)] for spelling, stated in spellings.items() if stated]
    presets = [[code(preset), _stated(stated)] for preset, stated in conventions.presets.items() if stated]
    return page(
        "## Names in other tools" if same or changed else "",
        f"Understood as the same: {', '.join(same)}." if same else "",
        table(["name", "sets"], changed) if changed else "",
        "## Conventions" if conventions.uses or presets else "",
        f"These change its value: {', '.join(map(code, conventions.uses))}." if conventions.uses else "",
        table(["preset of a tool", "sets, for this metric alone"], presets) if presets else "",
    ).strip()


def _stated(fields: dict[str, Any]) -> str:
    return ", ".join(code(f"{key}={write(value)}") for key, value in fields.items())


def _methods_with(kind: str, name: str) -> str:
    """Named methods that are this learner, or whose recipe has this part."""
    if kind not in ("learner", "loss", "scorer", "solver") or name == "recipe":
        return ""
    learners = {other: method(other).learner for other in METHODS}
    parts = {
        other: learner if kind == "learner" else getattr(learner, kind, None) for other, learner in learners.items()
    }
    users = [other for other, part in parts.items() if getattr(part, "name", None) == name]
    links = ", ".join(f"[{escaped(other)}](../methods/{other}.md)" for other in users)
    return f"## Methods with it\n\n{links}" if links else ""
