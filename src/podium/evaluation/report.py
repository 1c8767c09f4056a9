"""Report: a comparison as files: report.html, results.json, table.md, table.tex, per_query.tsv and provenance.json.

results.json holds what the same experiment gives again, to the bit; what was measured on the way (seconds, memory, the
time of day) and the versions and machine it was made with are in provenance.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from podium.evaluation.evaluate import plain
from podium.evaluation.published import Published, published
from podium.evaluation.report_page import page
from podium.files import write_texts
from podium.registry import write

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison
    from podium.metrics import Metric

Table = tuple[list[str], list[list[str]]]
"""The heads of the columns, and the rows."""


def write_report(comparison: Comparison, folder: str | PathLike[str]) -> None:
    """Write the comparison's files into a folder; each takes the place of an older one as a whole."""
    texts = {
        "report.html": page(comparison),
        "results.json": json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False) + "\n",
        "provenance.json": json.dumps(comparison.provenance(), indent=1, ensure_ascii=False) + "\n",
        "table.md": _markdown(comparison),
        "table.tex": _latex(comparison),
        "per_query.tsv": _per_query(comparison),
    }
    write_texts(folder, texts)


def summary(comparison: Comparison) -> Table:
    """A row per method, best first: the mean over folds of each metric, with its spread over several seeds."""
    several = len(comparison.seeds) > 1
    heads = [head for name in short_names(comparison.metrics) for head in ([name, SPREAD] if several else [name])]
    rows = []
    for method in comparison.ranking():
        pairs = zip(comparison.mean(method), comparison.spread(method), strict=True)
        values = [shown(value) for pair in pairs for value in (pair if several else pair[:1])]
        seconds = sum(outcome.seconds for outcome in comparison.by_method[method])
        rows.append([method, *values, chosen(comparison, method), f"{seconds:.1f}"])
    return ["method", *heads, "chosen", "seconds"], rows


SPREAD = "±"
"""The head of a column of standard deviations over seeds."""


def beside_published(comparison: Comparison) -> tuple[Table, Published] | None:
    """A row per method that papers print figures of for this data: each metric's mean over folds, then theirs."""
    known = published(comparison.data, comparison.metrics)
    if known is None:
        return None
    metrics = [metric for metric in comparison.metrics if any(metric == one for one, _ in known.figures)]
    rows = []
    for method in comparison.ranking():
        theirs = [known.shown(metric, method) for metric in metrics]
        if any(theirs):
            ours = dict(zip(comparison.metrics, comparison.mean(method), strict=True))
            rows.append([method, *(cell for m, t in zip(metrics, theirs, strict=True) for cell in (shown(ours[m]), t))])
    heads = ["method", *(head for name in short_names(metrics) for head in (name, "published"))]
    return ((heads, rows), known) if rows else None


def short_names(metrics: Sequence[Metric]) -> list[str]:
    """The metrics without their conventions, where that leaves them apart."""
    short = [str(metric).partition("[")[0] for metric in metrics]
    return short if len(set(short)) == len(short) else list(map(str, metrics))


def chosen(comparison: Comparison, method: str) -> str:
    """What validation chose, with the number of runs that did where they differ; from … to … where that gets long."""
    settings = [run.chosen for run in comparison.runs(method)]
    counts = Counter(", ".join(f"{k}={setting(v)}" for k, v in one.items()) for one in settings if one)
    if len(counts) < 2:
        return next(iter(counts), "")
    text = "; ".join(f"{text} ({times}×)" for text, times in counts.most_common())
    return (
        text if len(text) <= _LONG else ", ".join(f"{k}={_between([one[k] for one in settings])}" for k in settings[0])
    )


_LONG = 80
"""Letters of a cell above which it is shortened."""


def _between(values: list[Any]) -> str:
    """Several values of a setting: the least and the most, or all of them where they are no numbers."""
    if all(isinstance(value, int | float) for value in values):
        return setting(values[0]) if min(values) == max(values) else f"{setting(min(values))}…{setting(max(values))}"
    return "|".join(sorted({setting(value) for value in values}))


def setting(value: Any) -> str:
    """The value of a setting, numbers with few digits."""
    return f"{value:.4g}" if isinstance(value, float) else write(value)


def shown(value: float) -> str:
    """A metric's value with four decimals."""
    return "–" if plain(value) is None else f"{value:.4f}"


def _markdown(comparison: Comparison) -> str:
    parts = [markdown_table(*summary(comparison))]
    beside = beside_published(comparison)
    if beside is not None:
        table, known = beside
        parts.append(f"{known.name}, beside what papers print\n\n{markdown_table(*table)}")
        parts.append("".join(f"- {source}\n" for source in known.sources))
    for m, metric in enumerate(comparison.metrics):
        folds = [outcome.fold for outcome in next(iter(comparison.by_method.values()))]
        rows = [[name, *map(shown, comparison.per_fold(name)[m])] for name in comparison.ranking()]
        parts.append(f"{metric} on each fold (`{metric.tag()}`)\n\n" + markdown_table(["method", *folds], rows))
        parts.append(f"{metric} over all queries: {_LETTERS}\n\n" + markdown_table(*_ranked(comparison, str(metric))))
    return "\n".join(parts)


_LETTERS = "bootstrap interval of the mean (95 %); methods that share a letter do not differ significantly."


def _ranked(comparison: Comparison, metric: str) -> Table:
    """A row per method, best first by its mean over all queries, with interval and letters."""
    found = comparison.significance[metric]
    heads = ["method", "mean", "from", "to", "letters"]
    if found is None:
        m = list(map(str, comparison.metrics)).index(metric)
        return heads, [[name, shown(comparison.pooled(name)[m].value), "–", "–", ""] for name in comparison.ranking()]
    letters = found.letters or {}
    rows = [[name, *map(shown, (one.mean, *one.interval)), letters[name]] for name, one in found.systems.items()]
    return heads, rows


def _latex(comparison: Comparison) -> str:
    """A table of all metrics for a paper, with the letters as superscripts; it needs the package booktabs."""
    names = [str(metric) for metric in comparison.metrics]
    letters = {name: (found.letters if found else None) or {} for name, found in comparison.significance.items()}
    best = [
        max((shown(comparison.mean(name)[m]) for name in comparison.by_method), default="") for m in range(len(names))
    ]
    lines = [f"% mean over folds; {_LETTERS.partition('; ')[2]}", "% " + ", ".join(m.tag() for m in comparison.metrics)]
    lines += [f"\\begin{{tabular}}{{l{'r' * len(names)}}}", "\\toprule"]
    lines += [" & ".join(["method", *map(_tex, names)]) + " \\\\", "\\midrule"]
    for method in comparison.ranking():
        cells = [_tex(method)]
        for m, name in enumerate(names):
            text = shown(comparison.mean(method)[m])
            text = f"\\textbf{{{text}}}" if text == best[m] else text
            cells.append(text + f"\\textsuperscript{{{letters[name].get(method, '')}}}")
        lines.append(" & ".join(cells) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _tex(text: str) -> str:
    """Text with what TeX would take for commands written out."""
    return "".join(_TEX.get(letter, letter) for letter in text)


_TEX = {letter: f"\\{letter}" for letter in "&%$#_{}"}
_TEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    rule = ["---"] + ["---:" if _is_number(cell) else "---" for cell in (rows[0][1:] if rows else [])]
    lines = [heads, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit() or text == "–"


def _per_query(comparison: Comparison) -> str:
    lines = ["\t".join(["method", "fold", "query", *map(str, comparison.metrics)])]
    for outcome in (one for found in comparison.by_method.values() for one in found):
        for query, values in zip(outcome.query_ids, outcome.values.T, strict=True):
            numbers = ["" if plain(value) is None else repr(float(value)) for value in values]
            lines.append("\t".join([outcome.method, outcome.fold, query, *numbers]))
    return "\n".join(lines) + "\n"
