"""`podium compare INDEX --queries … --qrels …`: what learning adds to search."""

from __future__ import annotations

from podium.cli import console, progress
from podium.errors import ParameterError, counted


def compare_search(
    index: str,
    queries: str,
    qrels: str,
    *,
    methods: list[str],
    metrics: list[str],
    preset: str | None,
    tune_by: str,
    seeds: tuple[int, ...],
    features: str,
    output: str | None,
    as_json: bool,
) -> None:
    """Compare the first stage, as it is and tuned, with learned rankings of its candidates."""
    from podium.data.trec import read_qrels
    from podium.evaluation.compare_search import compare_search as compare
    from podium.evaluation.report import summary, write_report
    from podium.text.collection import read_queries
    from podium.text.index import Index

    if output is not None:
        console.check_output(output)
    if not methods:
        raise ParameterError("Missing option '--method', e.g. --method listnet. See: podium compare --help")
    found = Index.open(index)
    with progress.progress_bar(1) as bar, console.printed_warnings():
        made = compare(
            found, read_queries(queries), read_qrels(qrels), methods, metrics=metrics, preset=preset,
            features=features, seeds=seeds, tune_by=tune_by, observer=bar.put,
        )  # fmt: skip
    found.close()
    if output is not None:
        write_report(made, output)
    if as_json:
        console.print_json(made.to_dict())
        return
    about = made.data[0]
    console.print_table(*summary(made))
    console.out(
        f"{counted(about['queries'], 'query', 'queries')}, {counted(about['documents'], 'document')}; measured against "
        f"all judgements; learned rows rank the {about['depth']} candidates of the first stage."
    )
    if output is not None:
        console.out(f"Tables, per-query values and tests are in {output}; see {output}/report.html.")
