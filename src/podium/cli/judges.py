"""`podium judges`: choose documents to judge, agreement between judges, consensus of their votes, suspect labels."""

from __future__ import annotations

import csv
import io
import itertools
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import counted
from podium.cli import click_logs, console, judges_ask, judges_label, judges_next, judges_queries, judges_trust, options
from podium.cli.judged import read_ranked

if TYPE_CHECKING:
    from podium.judgments.agreement import Agreement
    from podium.judgments.consensus import Consensus
    from podium.judgments.judgments import Judgments
    from podium.judgments.suspects import Suspects

app = typer.Typer(
    name="judges",
    help="Judgments: choose documents to judge, measure agreement, find the consensus of judges and suspect labels.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("next")(judges_next.next_)
app.command("label")(judges_label.label_)
app.command("queries")(judges_queries.queries_)
app.command("ask")(judges_ask.ask_)
app.command("trust")(judges_trust.trust_)
Votes = Annotated[
    str,
    typer.Argument(
        metavar="VOTES",
        help="Grades of several judges: CSV, TSV, JSON or Parquet with columns query, document, judge and grade; or "
        "with query, document and a column for each judge.",
    ),
]


@app.command()
def pool(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Runs: TREC, CSV, JSON …")],
    depth: Annotated[int, typer.Option(help="The number of documents of each run and query to judge.", min=1)] = 10,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="The name of a judge; repeat it for a sheet of several.", show_default="judge"),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="Write the sheet to this CSV file.")] = "-",
    seed: options.Seed = 0,
) -> None:
    """Pool documents to judge: write a sheet of the top of every run, per query in random order, to fill in grades.

    The sheet does not say which run found a document; the number that each run found is printed.
    """
    from podium.judgments.pooling import pool as pooled
    from podium.judgments.pooling import write_sheet

    if output != "-":
        console.check_file(output, what="the sheet")
    sheet = pooled([read_ranked(run) for run in runs], depth, names=runs, seed=seed)
    write_sheet(sheet, output, judges=judge or ["judge"])
    for run, count, alone in zip(runs, sheet.found.sum(axis=0).tolist(), sheet.alone().tolist(), strict=True):
        console.say(f"{run}: {counted(count, 'document')}, {alone} found by no other run")
    sizes = counted(len(sheet.query_ids), "query", "queries"), counted(len(sheet.document_ids), "document")
    console.say(f"to judge: {sizes[1]} of {sizes[0]}")


@app.command()
def agreement(
    votes: Votes,
    weights: Annotated[
        Literal["none", "linear", "quadratic"], typer.Option(help="Weights of disagreement in Cohen's κ.")
    ] = "none",
    draws: Annotated[int, typer.Option(help="Bootstrap samples of the items, for the intervals.", min=1)] = 1000,
    confidence: Annotated[float, typer.Option(help="The confidence level of the intervals.")] = 0.95,
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    judge: options.JudgeColumn = None,
    grade: options.GradeColumn = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Measure agreement between judges beyond chance: Krippendorff's α, Fleiss' κ, and Cohen's κ of every two judges.

    Fleiss' κ is left out if items have different numbers of judgments, Cohen's if two judges share no item, or if
    there are more than 10 judges.
    """
    from podium.judgments.agreement import cohen, fleiss, krippendorff

    judgments = _read_votes(votes, query=query, document=document, judge=judge, grade=grade)
    how: dict[str, Any] = {"draws": draws, "confidence": confidence, "seed": seed}
    coefficients: list[tuple[str, Agreement]] = [
        ("all", krippendorff(judgments, level=level, **how)) for level in ("nominal", "ordinal", "interval")
    ]
    counts = judgments.votes
    if (counts == counts[0]).all():
        coefficients.append(("all", fleiss(judgments, **how)))
    few = len(judgments.judges) <= _FEW
    for first, second in itertools.combinations(judgments.judges, 2) if few else ():
        if _share(judgments, first, second):
            coefficients.append((f"{first}, {second}", cohen(judgments, first, second, weights=weights, **how)))
    if as_json:
        console.print_json([{"judges": who, **vars(coefficient)} for who, coefficient in coefficients])
        return
    rows = [
        [
            who,
            coefficient.name,
            f"{coefficient.value:.4f}",
            f"{coefficient.low:.4f}",
            f"{coefficient.high:.4f}",
            str(coefficient.items),
        ]
        for who, coefficient in coefficients
    ]
    console.print_table(["judges", "coefficient", "value", "low", "high", "items"], rows)
    _say_sizes(judgments)
    for note in dict.fromkeys(
        f"{coefficient.name}: {coefficient.note}" for _, coefficient in coefficients if coefficient.note
    ):
        console.say(note)


@app.command()
def consensus(
    votes: Votes,
    how: Annotated[
        options.HowConsensus,
        typer.Option(help="How votes become one label; from dawid-skene on, the accuracy of each judge is estimated."),
    ] = "majority",
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the labels: a table with their support if it is .csv; qrels as .json or .parquet; otherwise "
            "TREC qrels.",
        ),
    ] = None,
    preferences: Annotated[
        str | None,
        typer.Option(help="Write which document of a query is better, with probabilities, to this file."),
    ] = None,
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    judge: options.JudgeColumn = None,
    grade: options.GradeColumn = None,
    as_json: options.Json = False,
) -> None:
    """Aggregate the grades of several judges into one label per document. Without -o and --json, qrels are printed."""
    from podium.formats.trec.trec import write_qrels
    from podium.judgments.consensus import consensus as agreed
    from podium.judgments.consensus import write_preferences_of

    for file, what in ((output, "the labels"), (preferences, "the preferences")):
        if file not in (None, "-"):
            console.check_file(str(file), what=what)
    with console.printed_warnings():
        labels = agreed(_read_votes(votes, query=query, document=document, judge=judge, grade=grade), how)
    if output is not None and output.lower().endswith(".csv"):
        _write_table(labels, output)
    elif output is not None or not as_json:
        write_qrels(labels.qrels(), "-" if output is None else output)
    if preferences is not None:
        write_preferences_of(labels, preferences)
    if as_json:
        console.print_json(_summary(labels))
        return
    _say_sizes(labels.judgments)
    if len(labels.single):
        console.say(f"{counted(len(labels.single), 'document')} with one judgment only")
    if labels.judges is not None:
        for judge, accuracy in zip(labels.judgments.judges, labels.judges.accuracy.tolist(), strict=True):
            console.say(f"{judge}: right in {100 * accuracy:.1f} %")


@app.command()
def suspects(
    judgments: Annotated[
        str, typer.Argument(metavar="JUDGMENTS", help="Votes of judges, as for agreement, or the qrels of one judge.")
    ],
    log: click_logs.Log,
    how: Annotated[
        Literal["independent", "sequential", "full"],
        typer.Option(
            help="Use clicks on each document alone, also on its neighbours as shown, or on all of its query."
        ),
    ] = "sequential",
    top: Annotated[int, typer.Option(help="The number of judgments to list, the most suspect first.", min=1)] = 20,
    sure: Annotated[
        float, typer.Option(help="-o takes another grade instead of the judge's from this probability on.")
    ] = 0.9,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Write corrected judgments: a table if it is .csv, otherwise qrels."),
    ] = None,
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    judge: options.JudgeColumn = None,
    grade: options.GradeColumn = None,
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """List judgments that clicks contradict (label noise); -o corrects those that clicks are sure of.

    A model of grades given clicks is fitted to four fifths of the queries and checks the judgments of the rest. Clicks
    alone decide, so have suspects judged again if you can, rather than correct them.
    """
    from podium.judgments.judgment_files import write_judgments
    from podium.judgments.suspects import suspects as checked

    if output not in (None, "-"):
        console.check_file(str(output), what="the judgments")
    votes = _read_votes(judgments, qrels=True, query=query, document=document, judge=judge, grade=grade)
    doubt = checked(votes, click_logs.read_log(log, repeated=repeated), how, seed=seed)
    corrected = doubt.corrected(sure)
    if output is not None:
        write_judgments(corrected, output)
    rows = _suspect_rows(doubt, top)
    if as_json:
        console.print_json([dict(zip(_SUSPECT_FIELDS, row, strict=True)) for row in rows])
    elif output != "-":
        shown = [[*map(str, row[:3]), f"{row[3]:g}", f"{row[4]:g}", *(f"{x:.3f}" for x in row[5:])] for row in rows]
        console.print_table(_SUSPECT_FIELDS, shown)
    _say_sizes(doubt.judgments)
    changed = int((corrected.grades != doubt.judgments.grades).sum())
    left = len(doubt.judgments.grades) - len(doubt.order)
    what = "corrected" if output is not None else "would be corrected by -o"
    console.say(
        f"{counted(len(doubt.order), 'judgment')} checked, {changed} {what} (another grade has probability {sure:g} or "
        f"more){f'; {left} of documents that the log does not show' if left else ''}"
    )


def _read_votes(path: str, *, qrels: bool = False, **columns: str | None) -> Judgments:
    """Read votes, and say which columns were taken for what; with `qrels`, also the qrels of one judge."""
    from podium.judgments.judgment_files import judgments_from
    from podium.judgments.judgments import read_judgments

    judgments = (judgments_from if qrels else read_judgments)(path, **columns)
    if judgments.guessed is not None:
        console.say(f"{path}: {judgments.guessed}")
    return judgments


def _suspect_rows(suspects: Suspects, top: int) -> list[list[Any]]:
    """Rows of query, document, judge, grade, the likeliest grade, the probabilities of both, and the suspicion."""
    votes, names = suspects.judgments, suspects.judgments.item_names()
    columns = votes.grades, suspects.likeliest, suspects.given, suspects.probability, suspects.score
    return [
        [*names[votes.items[row]], votes.judges[votes.judge_of[row]], *(float(column[row]) for column in columns)]
        for row in suspects.order[:top].tolist()
    ]


def _share(judgments: Judgments, first: str, second: str) -> bool:
    """Whether two judges graded an item in common."""
    import numpy as np

    a, b = (judgments.items[judgments.judge_of == judgments.judges.index(name)] for name in (first, second))
    return len(np.intersect1d(a, b)) > 0


def _say_sizes(judgments: Judgments) -> None:
    parts = [
        counted(len(judgments.query_ids), "query", "queries"),
        counted(judgments.n_items, "document"),
        counted(len(judgments.judges), "judge"),
        counted(len(judgments.grades), "judgment"),
    ]
    if judgments.unfilled:
        parts.append(f"{counted(judgments.unfilled, 'row')} without a grade")
    console.say(", ".join(parts))


_FEW = 10
"""Largest number of judges of whom every two are compared."""
_SUSPECT_FIELDS = ["query", "document", "judge", "grade", "likeliest", "P(grade)", "P(likeliest)", "suspicion"]
_FIELDS = ["query", "document", "label", "support", "spread", "judgments"]


def _table(consensus: Consensus) -> list[list[Any]]:
    columns = (
        consensus.labels.tolist(),
        consensus.support.tolist(),
        consensus.spread.tolist(),
        consensus.judgments.votes.tolist(),
    )
    return [
        [*names, *row] for names, row in zip(consensus.judgments.item_names(), zip(*columns, strict=True), strict=True)
    ]


def _write_table(consensus: Consensus, path: str) -> None:
    from podium.base.files import writing

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_FIELDS, *_table(consensus)])
    with writing(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _summary(consensus: Consensus) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "how": consensus.how,
        "items": [dict(zip(_FIELDS, row, strict=True)) for row in _table(consensus)],
    }
    if consensus.judges is not None:
        names, tables = consensus.judgments.judges, consensus.judges.tables.tolist()
        accuracy = consensus.judges.accuracy.tolist()
        summary["grades"] = consensus.judgments.scale.tolist()
        summary["judges"] = [
            {"judge": name, "accuracy": right, "table": table}
            for name, right, table in zip(names, accuracy, tables, strict=True)
        ]
    return summary
