"""Report of a comparison as text files: results.json, table.md, table.tex, per_query.tsv and provenance.json.

results.json is identical, to the bit, whenever the same comparison is run. Seconds, memory, the time of day, versions
and the machine are in provenance.json.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.base.registry import write
from podium.evaluation.evaluate import plain
from podium.evaluation.published import Published, published

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison
    from podium.metrics import Metric

Table = tuple[list[str], list[list[str]]]
"""The heads of the columns, and the rows."""


def report_texts(comparison: Comparison) -> dict[str, str]:
    """The files of the report by name, except the HTML report."""
    return {
        "results.json": json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False) + "\n",
        "provenance.json": json.dumps(comparison.provenance(), indent=1, ensure_ascii=False) + "\n",
        "table.md": _markdown(comparison),
        "table.tex": _latex(comparison),
        "per_query.tsv": _per_query(comparison),
    }


def summary(comparison: Comparison) -> Table:
    """A row per method, best first: the mean over folds of each metric, with its spread over several seeds."""
    several = len(comparison.seeds) > 1
    heads = [head for name in short_names(comparison.metrics) for head in ([name, "±"] if several else [name])]
    rows = []
    for method in comparison.ranking():
        pairs = zip(comparison.mean(method), comparison.spread(method), strict=True)
        values = [format_value(value) for pair in pairs for value in (pair if several else pair[:1])]
        took = [comparison.seconds(method), comparison.cpu_seconds(method)]
        rows.append([method, *values, chosen(comparison, method), *(format_value(value, 1) for value in took)])
    return ["method", *heads, "chosen", "seconds", "cpu"], rows


def emphasis(comparison: Comparison) -> dict[tuple[int, int], str]:
    """The style of the best cell of each metric in `summary`, by (row, column).

    It is bold if the method is significantly better than every other one, else italic.
    """
    width = 2 if len(comparison.seeds) > 1 else 1
    ranking, styles = comparison.ranking(), {}
    for m, metric in enumerate(comparison.metrics):
        best = comparison.best(metric)
        if best is not None:
            style = "italic" if comparison.ties_with_best(metric) else "bold"
            styles[ranking.index(best), 1 + m * width] = style
    return styles


def leaders(comparison: Comparison) -> str | None:
    """Sentence on the best method by the first metric and those not significantly worse; None for one method."""
    metric = comparison.metrics[0]
    best, others = comparison.best(metric), comparison.ties_with_best(metric)
    if best is None or len(comparison.by_method) < 2:
        return None
    words = f"best by {metric}: {best}"
    if comparison.significance[str(metric)] is None:
        return f"{words}; too few queries for a test"
    if not others:
        return f"{words}, significantly better than every other method (Holm, α = 0.05)"
    few = others if len(others) <= _FEW else [*others[: _FEW - 1], f"{len(others) - _FEW + 1} more"]
    return f"{words}, but not significantly better than {', '.join(few)} (Holm, α = 0.05)"


_FEW = 5
"""Names in a sentence."""


def beside_published(comparison: Comparison) -> tuple[Table, Published] | None:
    """A row per method with published figures for this data: each metric's mean over folds, then the published one."""
    benchmark = published(comparison.data, comparison.metrics)
    if benchmark is None:
        return None
    metrics = [metric for metric in comparison.metrics if any(metric == printed for printed, _ in benchmark.figures)]
    rows = []
    for method in comparison.ranking():
        theirs = [benchmark.text(metric, method) for metric in metrics]
        if any(theirs):
            ours = dict(zip(comparison.metrics, comparison.mean(method), strict=True))
            pairs = zip(metrics, theirs, strict=True)
            rows.append([method, *(cell for metric, text in pairs for cell in (format_value(ours[metric]), text))])
    heads = ["method", *(head for name in short_names(metrics) for head in (name, "published"))]
    return ((heads, rows), benchmark) if rows else None


def short_names(metrics: Sequence[Metric]) -> list[str]:
    """The metrics without their conventions, if the short names are unique."""
    short = [str(metric).partition("[")[0] for metric in metrics]
    return short if len(set(short)) == len(short) else list(map(str, metrics))


def chosen(comparison: Comparison, method: str) -> str:
    """The chosen hyperparameters; with the number of runs if these differ, as a range if that is too long."""
    choices = [run.chosen for run in comparison.runs(method)]
    counts = Counter(", ".join(f"{k}={format_setting(v)}" for k, v in choice.items()) for choice in choices if choice)
    if len(counts) < 2:
        return next(iter(counts), "")
    text = "; ".join(f"{text} ({times}×)" for text, times in counts.most_common())
    if len(text) <= _LONG:
        return text
    return ", ".join(f"{k}={_between([choice[k] for choice in choices])}" for k in choices[0])


_LONG = 80
"""Characters of a cell above which it is shortened."""


def _between(values: list[Any]) -> str:
    """Several values of a hyperparameter: the smallest and the largest, or all of them if they are not numbers."""
    if all(isinstance(value, int | float) for value in values):
        low, high = format_setting(min(values)), format_setting(max(values))
        return low if low == high else f"{low}…{high}"
    return "|".join(sorted({format_setting(value) for value in values}))


def format_setting(value: Any) -> str:
    """The value of a hyperparameter, numbers with few digits."""
    return f"{value:.4g}" if isinstance(value, float) else write(value)


def format_value(value: float, digits: int = 4) -> str:
    """A number with four decimals; a dash for NaN."""
    return "–" if plain(value) is None else f"{value:.{digits}f}"


def _markdown(comparison: Comparison) -> str:
    parts = [f"{_markdown_text(comparison.dataset)}\n"] if comparison.dataset else []
    parts.append(markdown_table(*summary(comparison)))
    best = leaders(comparison)
    if best is not None:
        parts.append(_markdown_text(best) + "\n")
    beside = beside_published(comparison)
    if beside is not None:
        table, benchmark = beside
        parts.append(f"{benchmark.name}, compared with published figures\n\n{markdown_table(*table)}")
        parts.append("".join(f"- {source}\n" for source in benchmark.sources) + benchmark.caveat.lstrip("; ") + "\n")
    for m, metric in enumerate(comparison.metrics):
        folds = [outcome.fold for outcome in next(iter(comparison.by_method.values()))]
        rows = [[name, *map(format_value, comparison.per_fold(name)[m])] for name in comparison.ranking()]
        parts.append(f"{metric} on each fold (`{metric.tag()}`)\n\n" + markdown_table(["method", *folds], rows))
        parts.append(f"{metric} over all queries: {_LETTERS}\n\n" + markdown_table(*_ranked(comparison, str(metric))))
    return "\n".join(parts)


_LETTERS = "bootstrap interval of the mean (95 %); methods that share a letter do not differ significantly."


def _ranked(comparison: Comparison, metric: str) -> Table:
    """A row per method, best first by its mean over all queries, with interval and letters."""
    tested = comparison.significance[metric]
    heads = ["method", "mean", "from", "to", "letters"]
    if tested is None:
        m = list(map(str, comparison.metrics)).index(metric)
        means = {name: comparison.pooled(name)[m].value for name in comparison.ranking()}
        return heads, [[name, format_value(value), "–", "–", ""] for name, value in means.items()]
    letters = tested.letters or {}
    systems = tested.systems.items()
    return heads, [[name, *map(format_value, (row.mean, *row.interval)), letters[name]] for name, row in systems]


def _latex(comparison: Comparison) -> str:
    """A table of all metrics for a paper, with the letters as superscripts; it needs the package booktabs."""
    names = [str(metric) for metric in comparison.metrics]
    letters = {name: (tested.letters if tested else None) or {} for name, tested in comparison.significance.items()}
    styles = emphasis(comparison)
    width = 2 if len(comparison.seeds) > 1 else 1
    lines = [f"% mean over folds; {_LETTERS.partition('; ')[2]}", "% " + ", ".join(m.tag() for m in comparison.metrics)]
    lines += ["% bold: significantly better than every other method; italic: best mean, but others share its letter"]
    lines += [f"\\begin{{tabular}}{{l{'r' * len(names)}}}", "\\toprule"]
    lines += [" & ".join(["method", *map(_tex, names)]) + " \\\\", "\\midrule"]
    for r, method in enumerate(comparison.ranking()):
        cells = [_tex(method)]
        for m, name in enumerate(names):
            text = format_value(comparison.mean(method)[m])
            style = styles.get((r, 1 + m * width))
            text = f"{_TEX_STYLES[style]}{{{text}}}" if style else text
            cells.append(text + f"\\textsuperscript{{{letters[name].get(method, '')}}}")
        lines.append(" & ".join(cells) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


_TEX_STYLES = {"bold": "\\textbf", "italic": "\\textit"}


def _tex(text: str) -> str:
    """Text with the special characters of TeX escaped."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


_TEX = {letter: f"\\{letter}" for letter in "&%$#_{}"}
_TEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    rule = ["---"] + ["---:" if _is_number(cell) else "---" for cell in (rows[0][1:] if rows else [])]
    lines = [list(map(_markdown_text, heads)), rule, *(list(map(_markdown_text, row)) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _markdown_text(text: str) -> str:
    """Text for a cell: on one line, with HTML and the marks of Markdown escaped."""
    return re.sub(r"([\\|`*]|(?<=\])\()", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit() or text == "–"


def _per_query(comparison: Comparison) -> str:
    lines = ["\t".join(["method", "fold", "query", *map(str, comparison.metrics)])]
    for outcome in (outcome for outcomes in comparison.by_method.values() for outcome in outcomes):
        for query, values in zip(outcome.query_ids, outcome.values.T, strict=True):
            numbers = ["" if plain(value) is None else repr(float(value)) for value in values]
            lines.append("\t".join([*map(_tsv_text, (outcome.method, outcome.fold, query)), *numbers]))
    return "\n".join(lines) + "\n"


def _tsv_text(text: str) -> str:
    r"""Text for a cell: backslash, tab and line ends as \\, \t, \n, \r; an apostrophe before a possible formula.

    A spreadsheet would run a cell that begins with = + - or @, unless it is a number.
    """
    escaped = "".join(_TSV.get(letter, letter) for letter in text)
    return f"'{escaped}" if escaped[:1] in "=+-@'" and escaped and not _is_number(escaped) else escaped


_TSV = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}
