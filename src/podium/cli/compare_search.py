"""`podium compare INDEX --queries … --qrels …`: learned re-ranking compared with the first stage."""

from __future__ import annotations

from pathlib import Path

from podium.base.errors import counted
from podium.cli import console, progress
from podium.cli.judged import Columns, read_asked, say_absent


def compare_search(
    index: str,
    queries: str,
    qrels: str | None = None,
    *,
    methods: list[str],
    metrics: list[str],
    preset: str | None,
    tune_by: str,
    seeds: tuple[int, ...],
    features: str,
    output: str | None,
    as_json: bool,
    columns: Columns,
) -> None:
    """Compare the first stage, with default and tuned parameters, with learned re-rankings of its candidates."""
    from podium.evaluation.report_texts import emphasis, leaders, summary
    from podium.evaluation.search.compare_search import FIRST, FOLDS, default_methods
    from podium.evaluation.search.compare_search import compare_search as compare
    from podium.text.index.index import Index
    from podium.text.retrieval.candidates import DEPTH

    if output is not None:
        console.check_output(output)
    methods = methods or list(default_methods(features))
    topics, judged, _ = read_asked(queries, qrels, columns)
    assert judged is not None, "a single file holds judgments"
    opened = Index.open(index)
    with progress.progress_bar(2 + FOLDS * len(methods) * len(seeds)) as bar, console.printed_warnings():
        comparison = compare(
            opened, topics, judged, methods, metrics=metrics, preset=preset,
            features=features, seeds=seeds, tune_by=tune_by, progress=bar.progress(),
        )  # fmt: skip
    documents = len(opened)
    say_absent(judged, opened)
    if output is not None:
        from podium.pages.report import write_report
        from podium.pages.report_names import names_of

        Path(output).mkdir(parents=True, exist_ok=True)
        write_report(comparison, output, names=names_of(comparison, topics, opened))
    opened.close()
    if as_json:
        console.print_json(comparison.to_dict())
        return
    queries_asked = sum(len(outcome.query_ids) for outcome in comparison.by_method[FIRST])
    console.print_table(*summary(comparison), styles=emphasis(comparison))
    verdict = leaders(comparison)
    if verdict is not None:
        console.out(f"{verdict[0].upper()}{verdict[1:]}.")
    console.out(
        f"{counted(queries_asked, 'query', 'queries')}, {counted(documents, 'document')}; measured against all "
        f"judgments; learned rows rank the {DEPTH} candidates of the tuned first stage."
    )
    left_out = len(topics) - len({query for outcome in comparison.by_method[FIRST] for query in outcome.query_ids})
    if left_out:
        console.say(f"{counted(left_out, 'query', 'queries')} of {len(topics)} without a relevant document left out")
    if output is not None:
        console.out(f"Tables, per-query values and tests are in {output}; see {output}/report.html.")
