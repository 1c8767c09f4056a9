"""Report of a comparison as text files: results.json, table.md, table.tex, per_query.tsv and provenance.json.

results.json is identical, to the bit, whenever the same comparison is run. Seconds, memory, the time of day, versions
and the machine are in provenance.json.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from podium.base.errors import counted
from podium.base.shown import ShownTable, Value, some_names
from podium.evaluation.evaluate import plain
from podium.evaluation.metric_names import paper_names, short_names
from podium.evaluation.published import Published, published
from podium.evaluation.segment_texts import segments_markdown
from podium.evaluation.significance import SystemComparison
from podium.evaluation.text_tables import Table, format_value, is_number, markdown_table, markdown_text
from podium.tuning import format_setting

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison


def report_texts(comparison: Comparison) -> dict[str, str]:
    """The files of the report by name, except the HTML report."""
    return {
        "results.json": json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False) + "\n",
        **(
            {"provenance.json": json.dumps(comparison.provenance(), indent=1, ensure_ascii=False) + "\n"}
            if comparison.trained
            else {}
        ),
        "table.md": _markdown(comparison) + segments_markdown(comparison.segments, comparison.word),
        "table.tex": comparison.to_latex(),
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
        more = [chosen(comparison, method), *(format_value(value, 1) for value in took)] if comparison.trained else []
        rows.append([method, *values, *more])
    return [comparison.word, *heads, *(["chosen", "seconds", "cpu"] if comparison.trained else [])], rows


def emphasis(comparison: Comparison) -> dict[tuple[int, int], str]:
    """The style of the best cell of each metric in `summary`, by (row, column).

    It is bold if the method is significantly better than every other one, else italic. With a baseline, the best is
    bold: the others are not tested against it.
    """
    width = 2 if len(comparison.seeds) > 1 else 1
    ranking, styles = comparison.ranking(), {}
    for m, metric in enumerate(comparison.metrics):
        best = comparison.best(metric)
        if best is not None:
            style = "italic" if comparison.baseline is None and comparison.ties_with_best(metric) else "bold"
            styles[ranking.index(best), 1 + m * width] = style
    return styles


def shown_comparison(comparison: Comparison) -> ShownTable:
    """A row per method, best first: means with letters of significance, the best of each metric bold or italic."""
    several, names = len(comparison.seeds) > 1, short_names(comparison.metrics)
    ranking, styles, marks = comparison.ranking(), emphasis(comparison), {}
    rows: list[list[Value]] = []
    for r, method in enumerate(ranking):
        pairs = zip(comparison.mean(method), comparison.spread(method), strict=True)
        rows.append([method, *(float(value) for pair in pairs for value in (pair if several else pair[:1]))])
        for m, tested in enumerate(comparison.significance.values()):
            marks[r, 1 + m * (2 if several else 1)] = _mark(tested, method)
    tags = ", ".join(metric.tag() for metric in comparison.metrics)
    best = leaders(comparison)
    return ShownTable(
        f"Comparison of {_sizes(comparison)}",
        [comparison.word, *_with_spread(names, several)],
        rows,
        notes=[best] if best else [],
        bold={cell for cell, style in styles.items() if style == "bold"},
        italic={cell for cell, style in styles.items() if style == "italic"},
        marks=marks,
        latex_heads=[comparison.word.capitalize(), *_with_spread(paper_names(comparison.metrics), several)],
        comments=[*([best] if best else []), _marks_explained(comparison), f"means: {tags}"],
    )


def _with_spread(names: list[str], several: bool) -> list[str]:
    return [head for name in names for head in ([name, f"{name} ±"] if several else [name])]


def _sizes(comparison: Comparison) -> str:
    """What was compared, in numbers."""
    first = next(iter(comparison.by_method.values()), [])
    parts = [
        counted(len(comparison.by_method), comparison.word),
        counted(sum(len(outcome.query_ids) for outcome in first), "test query" if comparison.trained else "query",
                "test queries" if comparison.trained else "queries"),
    ]  # fmt: skip
    parts += [counted(len(first), "fold")] if len(first) > 1 else []
    parts += [counted(len(comparison.seeds), "seed")] if len(comparison.seeds) > 1 else []
    return (f"{comparison.dataset}: " if comparison.dataset else "") + ", ".join(parts)


def _mark(tested: SystemComparison | None, name: str) -> str:
    """The letters of a method; against a baseline, an asterisk if it differs significantly."""
    if tested is None:
        return ""
    if tested.letters is not None:
        return tested.letters[name]
    pair = tested.pair_with_baseline(name)
    return "*" if pair is not None and pair.significant else ""


def _marks_explained(comparison: Comparison) -> str:
    over = "means over folds; " if comparison.trained else ""
    if comparison.baseline is not None:
        return f"{over}* differs significantly from {comparison.baseline}; bold: best mean"
    return (
        f"{over}{comparison.word}s that share a letter do not differ significantly; bold: significantly better than "
        f"every other {comparison.word}; italic: best mean, but others share its letter"
    )


def leaders(comparison: Comparison) -> str | None:
    """Sentence on the best method by the first metric and those not significantly worse; None for one method.

    With a baseline, a sentence on each of the others.
    """
    metric = comparison.metrics[0]
    best, others = comparison.best(metric), comparison.ties_with_best(metric)
    if best is None or len(comparison.by_method) < 2:
        return None
    words, tested = f"best by {metric}: {best}", comparison.significance[str(metric)]
    if tested is None:
        return f"{words}; too few queries for a test"
    if comparison.baseline is not None:
        return f"{tested.verdict(comparison.word)} ({tested.how})"
    if not others:
        return f"{words}, significantly better than every other {comparison.word} ({_how(tested)})"
    return f"{words}, but not significantly better than {some_names(others)} ({_how(tested)})"


def _how(tested: SystemComparison) -> str:
    """The test in words; that of the defaults in few."""
    usual = tested.test == "randomisation" and tested.correction == "holm"
    return f"Holm, α = {tested.alpha:g}" if usual else tested.how


def beside_published(comparison: Comparison) -> tuple[Table, Published] | None:
    """A row per method with published figures for this data: each metric's mean over folds, then the published one."""
    benchmark = published(comparison.data, comparison.metrics, dataset=comparison.dataset)
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


def _markdown(comparison: Comparison) -> str:
    parts = [f"{markdown_text(comparison.dataset)}\n"] if comparison.dataset else []
    parts.append(markdown_table(*summary(comparison)))
    best = leaders(comparison)
    if best is not None:
        parts.append(markdown_text(best) + "\n")
    beside = beside_published(comparison)
    if beside is not None:
        table, benchmark = beside
        parts.append(f"{benchmark.name}, compared with published figures\n\n{markdown_table(*table)}")
        parts.append("".join(f"- {source}\n" for source in benchmark.sources) + benchmark.caveat.lstrip("; ") + "\n")
    for m, metric in enumerate(comparison.metrics):
        folds = [outcome.fold for outcome in next(iter(comparison.by_method.values()))]
        rows = [[name, *map(format_value, comparison.per_fold(name)[m])] for name in comparison.ranking()]
        if comparison.trained:
            parts.append(f"{metric} on each fold (`{metric.tag()}`)\n\n" + markdown_table(["method", *folds], rows))
        tag = "" if comparison.trained else f" (`{metric.tag()}`)"
        words = (
            f"{metric} over all queries{tag}: bootstrap interval of the mean (95 %); {_tests_explained(comparison)}."
        )
        parts.append(f"{words}\n\n" + markdown_table(*ranked(comparison, str(metric))))
    return "\n".join(parts)


def _tests_explained(comparison: Comparison) -> str:
    if comparison.baseline is None:
        return f"{comparison.word}s that share a letter do not differ significantly"
    return f"differences from {markdown_text(comparison.baseline)} and their corrected p-values"


def ranked(comparison: Comparison, metric: str) -> Table:
    """A row per method, best first by its mean over all queries, with interval and letters.

    With a baseline: with the difference from it and the corrected p-value instead of letters.
    """
    tested = comparison.significance[metric]
    if comparison.baseline is not None and tested is not None:
        return [comparison.word, "mean", "from", "to", "difference", "p"], [
            [name, *map(format_value, (row.mean, *row.interval)), *_against_baseline(tested, name)]
            for name, row in tested.systems.items()
        ]
    heads = [comparison.word, "mean", "from", "to", "letters"]
    if tested is None:
        m = list(map(str, comparison.metrics)).index(metric)
        means = {name: comparison.pooled(name)[m].value for name in comparison.ranking()}
        return heads, [[name, format_value(value), "–", "–", ""] for name, value in means.items()]
    letters = tested.letters or {}
    systems = tested.systems.items()
    return heads, [[name, *map(format_value, (row.mean, *row.interval)), letters[name]] for name, row in systems]


def _against_baseline(tested: SystemComparison, name: str) -> list[str]:
    pair = tested.pair_with_baseline(name)
    return ["–", "–"] if pair is None else [f"{pair.difference:+.4f}", f"{pair.adjusted:.4f}"]


def _per_query(comparison: Comparison) -> str:
    fold = ["fold"] if comparison.trained else []
    lines = ["\t".join([comparison.word, *fold, "query", *map(str, comparison.metrics)])]
    for outcome in (outcome for outcomes in comparison.by_method.values() for outcome in outcomes):
        for query, values in zip(outcome.query_ids, outcome.values.T, strict=True):
            numbers = ["" if plain(value) is None else repr(float(value)) for value in values]
            names = [outcome.method, *([outcome.fold] if comparison.trained else []), query]
            lines.append("\t".join([*map(_tsv_text, names), *numbers]))
    return "\n".join(lines) + "\n"


def _tsv_text(text: str) -> str:
    r"""Text for a cell: backslash, tab and line ends as \\, \t, \n, \r; an apostrophe before a possible formula.

    A spreadsheet would run a cell that begins with = + - or @, unless it is a number.
    """
    escaped = "".join(_TSV.get(letter, letter) for letter in text)
    return f"'{escaped}" if escaped[:1] in "=+-@'" and escaped and not is_number(escaped) else escaped


_TSV = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}
