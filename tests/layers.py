"""The rooms of the package, from the ground up: a room imports from its own layer and from lower ones.

`tests/unit/test_architecture.py` holds this table, and `python -m tests.layers` draws it into docs/architecture.svg.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

LAYERS: list[dict[str, str]] = [
    {"base": "errors, names and parameters, arrays, files, threads"},
    {"jit": "numba: compiled functions, their disk cache, sorting"},
    {"parsing": "bytes to words, ids, numbers"},
    {
        "data": "datasets, preferences, splits; the data doctor",
        "metrics": "one file per metric, conventions of other tools",
        "graph": "PageRank, HITS, BrowseRank",
    },
    {"formats": "LETOR, TREC, tables, caches; what a file is"},
    {
        "text": "analyser, index, retrieval, features",
        "transforms": "features of features",
        "kernels": "what losses share, compiled",
        "clicks": "logs, importers, click models, weights",
    },
    {"judgments": "votes, agreement, consensus, suspects", "distributions": "distributions over rankings"},
    {"losses": "one file per loss", "scorers": "linear, networks, trees/"},
    {
        "problem": "loss × scorer × data",
        "learner": "what can be trained",
        "solvers": "from a problem to parameters",
        "algorithms": "methods with a loop of their own",
    },
    {
        "recipe": "loss + scorer + solver",
        "methods": "the table of methods",
        "training": "podium.train",
        "ensembles": "methods of methods",
        "tuning": "hyperparameters",
        "model": "a fitted learner, its file",
        "odds": "how sure of an order",
        "propensities": "examination from logs",
    },
    {
        "evaluation": "metrics, significance",
        "explanation": "why one is above another",
        "aggregation": "many rankings to one",
        "arena": "strengths from battles",
        "rerankers": "diversity: a whole list",
        "pickers": "what to judge next",
        "engine": "index + model; texts",
        "sklearn": "for scikit-learn",
        "export": "to other engines, proven",
        "imports": "models of other tools",
        "engines": "live engines: ask, push",
    },
    {"online": "interleaving, online learning, tests", "counterfactual": "value of a ranker from logs"},
    {"pages": "HTML reports and charts"},
    {"comparison": "podium compare", "integrations": "inside torch, boosters, pipelines"},
    {"distributed": "Dask clusters"},
    {
        "cli": "one file per command",
        "service": "HTTP",
        "testing": "contract suites",
        "__main__": "python -m podium",
    },
]
HEIGHT = {room: height for height, layer in enumerate(LAYERS) for room in layer}

_WIDTH, _ROW, _GAP = 1180, 58, 8


def draw() -> str:
    """The layers as an SVG picture, the ground at the bottom."""
    rows = [_row(layer, (len(LAYERS) - 1 - height) * (_ROW + _GAP)) for height, layer in enumerate(LAYERS)]
    tall = len(LAYERS) * (_ROW + _GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {tall}" role="img" '
        'font-family="system-ui, sans-serif">\n'
        "<title>Rooms of podium; each imports from its own row and the rows below</title>\n"
        f'<rect width="{_WIDTH}" height="{tall}" fill="#fff"/>\n' + "".join(reversed(rows)) + "</svg>\n"
    )


def _row(layer: dict[str, str], top: int) -> str:
    wide = (_WIDTH - _GAP * (len(layer) - 1)) / len(layer)
    return "".join(
        f'<rect x="{i * (wide + _GAP):.0f}" y="{top}" width="{wide:.0f}" height="{_ROW}" rx="6" fill="#eef3f8" '
        f'stroke="#9db4c8"/>\n'
        f'<text x="{i * (wide + _GAP) + wide / 2:.0f}" y="{top + 24}" text-anchor="middle" font-size="16" '
        f'font-weight="600" fill="#123">{escape(room)}</text>\n'
        f'<text x="{i * (wide + _GAP) + wide / 2:.0f}" y="{top + 44}" text-anchor="middle" font-size="11.5" '
        f'fill="#345">{escape(words)}</text>\n'
        for i, (room, words) in enumerate(layer.items())
    )


if __name__ == "__main__":
    (Path(__file__).parents[1] / "docs" / "architecture.svg").write_text(draw(), encoding="utf-8")
