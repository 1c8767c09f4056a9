"""`podium evaluate --curve`: precision–recall curves of the files, and the AUC over the documents of all queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podium.cli import console
from podium.cli.judged import Columns, holds_qrels, read_judged

if TYPE_CHECKING:
    from podium.evaluation.curves.recall_curve import RecallCurve


def write_curve(
    output: str, judged: str, ranked: list[str], preset: str | None, *, chosen: dict[str, Any], columns: Columns,
    queries: str | None,
) -> RecallCurve:  # fmt: skip
    """Write the HTML report on files of scores, or on runs, and say each one's AUC."""
    from podium.base.files import writing
    from podium.cli.judged_files import evaluate_files
    from podium.evaluation.curves.recall_curve import RecallCurve, levels
    from podium.pages.recall_chart import page

    evaluations = evaluate_files(judged, ranked, levels(preset), chosen=chosen, columns=columns, queries=queries)
    curve = RecallCurve.of(evaluations, _aucs(judged, ranked, chosen=chosen, columns=columns, queries=queries))
    with writing(output) as file:
        file.write(page(curve, judged).encode("utf-8", "surrogateescape"))
    console.say("\n".join([*curve.sentences(), f"wrote {output}"]))
    return curve


def _aucs(
    judged: str, ranked: list[str], *, chosen: dict[str, Any], columns: Columns, queries: str | None
) -> dict[str, float]:
    from podium.evaluation.curves.recall_curve import auc

    if holds_qrels(judged, ranked[0], columns):
        from podium.formats.trec.judged_run import join
        from podium.formats.trec.trec import as_qrels, as_run

        qrels, runs = read_judged(judged, ranked, columns, queries)
        joined = {name: join(as_qrels(qrels), as_run(run), **chosen) for name, run in runs.items()}
        return {name: auc(part.labels, part.scores) for name, part in joined.items()}
    from podium.formats import read_data
    from podium.formats.folder import is_table
    from podium.formats.scores_file import read_scores

    roles: dict[str, Any] = {"features": []} if is_table(judged) else {}
    data = read_data(judged, **roles)
    return {name: auc(data.labels, read_scores(name, data)) for name in ranked if data.labels is not None}
