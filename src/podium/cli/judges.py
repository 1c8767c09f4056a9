"""`podium judges`: what to judge, how far judges agree, the consensus of their votes, and which labels clicks doubt."""

from __future__ import annotations

import csv
import io
import itertools
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import counted
from podium.cli import click_logs, console, options

if TYPE_CHECKING:
    from podium.judgments.agreement import Agreement
    from podium.judgments.consensus import Consensus
    from podium.judgments.judgments import Judgments
    from podium.judgments.suspects import Suspects

app = typer.Typer(
    name="judges",
    help="Judgments: pool documents to judge, measure agreement, find the consensus of judges and suspect labels.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Votes = Annotated[
    str,
    typer.Argument(
        metavar="VOTES", help="A table (.csv, .csv.gz, .parquet) with columns query, document, judge, grade."
    ),
]


@app.command()
def pool(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="TREC runs.")],
    depth: Annotated[int, typer.Option(help="How many documents of each run and query to judge.", min=1)] = 10,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="The name of a judge; repeat it for a sheet of several.", show_default="judge"),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="Write the sheet to this CSV file.")] = "-",
    seed: options.Seed = 0,
) -> None:
    """Write a sheet of documents to judge: the top of every run, per query in random order, grades to be filled in.

    The sheet does not say which run found a document; how many each found is printed beside it.
    """
    from podium.formats.trec.trec import read_run
    from podium.judgments.pooling import pool as pooled
    from podium.judgments.pooling import write_sheet

    if output != "-":
        console.check_file(output, what="the sheet")
    made = pooled([read_run(run) for run in runs], depth, names=runs, seed=seed)
    write_sheet(made, output, judges=judge or ["judge"])
    for run, found, alone in zip(runs, made.found.sum(axis=0).tolist(), made.alone().tolist(), strict=True):
        console.say(f"{run}: {counted(found, 'document')}, {alone} found by no other run")
    sizes = counted(len(made.query_ids), "query", "queries"), counted(len(made.document_ids), "document")
    console.say(f"to judge: {sizes[1]} of {sizes[0]}")


@app.command()
def agreement(
    votes: Votes,
    weights: Annotated[
        Literal["none", "linear", "quadratic"], typer.Option(help="How far apart two grades are, in Cohen's κ.")
    ] = "none",
    draws: Annotated[int, typer.Option(help="Resamplings of the items, for the intervals.", min=1)] = 1000,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Measure how far judges agree beyond chance: Krippendorff's α, Fleiss' κ, and Cohen's κ of every two judges.

    Fleiss' κ is left out where items have different numbers of judgments, Cohen's where two judges share no item, or
    where there are more than 10 judges.
    """
    from podium.judgments.agreement import cohen, fleiss, krippendorff
    from podium.judgments.judgments import read_judgments

    judgments = read_judgments(votes)
    how: dict[str, Any] = {"draws": draws, "confidence": confidence, "seed": seed}
    found: list[tuple[str, Agreement]] = [
        ("all", krippendorff(judgments, level=level, **how)) for level in ("nominal", "ordinal", "interval")
    ]
    counts = judgments.votes
    if (counts == counts[0]).all():
        found.append(("all", fleiss(judgments, **how)))
    few = len(judgments.judges) <= _FEW
    for first, second in itertools.combinations(judgments.judges, 2) if few else ():
        if _share(judgments, first, second):
            found.append((f"{first}, {second}", cohen(judgments, first, second, weights=weights, **how)))
    if as_json:
        console.print_json([{"judges": who, **vars(one)} for who, one in found])
        return
    rows = [
        [who, one.name, f"{one.value:.4f}", f"{one.low:.4f}", f"{one.high:.4f}", str(one.items)] for who, one in found
    ]
    console.print_table(["judges", "coefficient", "value", "low", "high", "items"], rows)
    _say_sizes(judgments)
    for note in dict.fromkeys(f"{one.name}: {one.note}" for _, one in found if one.note):
        console.say(note)


@app.command()
def consensus(
    votes: Votes,
    how: Annotated[
        Literal["majority", "mean", "median", "dawid-skene"],
        typer.Option(help="The way to one label: dawid-skene also estimates how good each judge is."),
    ] = "majority",
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Write the labels: qrels, or a table with their support where it is .csv."),
    ] = None,
    preferences: Annotated[
        str | None,
        typer.Option(help="Write which document of a query is better, with probabilities, to this file."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Make one label of several judges' grades for each document. Without -o and --json, qrels are printed."""
    from podium.formats.trec.trec import write_qrels
    from podium.judgments.consensus import consensus as agreed
    from podium.judgments.consensus import write_preferences_of
    from podium.judgments.judgments import read_judgments

    for file, what in ((output, "the labels"), (preferences, "the preferences")):
        if file not in (None, "-"):
            console.check_file(str(file), what=what)
    with console.printed_warnings():
        found = agreed(read_judgments(votes), how)
    if output is not None and output.lower().endswith(".csv"):
        _write_table(found, output)
    elif output is not None or not as_json:
        write_qrels(found.qrels(), "-" if output is None else output)
    if preferences is not None:
        write_preferences_of(found, preferences)
    if as_json:
        console.print_json(_summary(found))
        return
    _say_sizes(found.judgments)
    if len(found.single):
        console.say(f"{counted(len(found.single), 'document')} with one judgment only")
    if found.judges is not None:
        for judge, accuracy in zip(found.judgments.judges, found.judges.accuracy.tolist(), strict=True):
            console.say(f"{judge}: right in {100 * accuracy:.1f} %")


@app.command()
def suspects(
    judgments: Annotated[
        str, typer.Argument(metavar="JUDGMENTS", help="Votes of judges, as for agreement, or the qrels of one judge.")
    ],
    log: click_logs.Log,
    how: Annotated[
        Literal["independent", "sequential", "full"],
        typer.Option(help="Look at each document alone, also at its neighbours as shown, or at all of its query."),
    ] = "sequential",
    top: Annotated[int, typer.Option(help="How many judgments to list, the most suspect first.", min=1)] = 20,
    sure: Annotated[
        float, typer.Option(help="The probability of another grade from which -o takes it instead of the given one.")
    ] = 0.9,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Write corrected judgments: a table where it is .csv, otherwise qrels."),
    ] = None,
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """List the judgments that clicks speak against; -o takes the grade that clicks are sure of instead.

    A model of which grades go with which clicks is fitted to four fifths of the queries and checks the judgments of the
    rest. Clicks alone decide, so have suspects judged again where you can, rather than correct them.
    """
    from podium.judgments.judgment_files import judgments_from, write_judgments
    from podium.judgments.suspects import suspects as checked

    if output not in (None, "-"):
        console.check_file(str(output), what="the judgments")
    found = checked(judgments_from(judgments), click_logs.read_log(log, repeated=repeated), how, seed=seed)
    corrected = found.corrected(sure)
    if output is not None:
        write_judgments(corrected, output)
    rows = _suspect_rows(found, top)
    if as_json:
        console.print_json([dict(zip(_SUSPECT_FIELDS, row, strict=True)) for row in rows])
    elif output != "-":
        shown = [[*map(str, row[:3]), f"{row[3]:g}", f"{row[4]:g}", *(f"{x:.3f}" for x in row[5:])] for row in rows]
        console.print_table(_SUSPECT_FIELDS, shown)
    _say_sizes(found.judgments)
    changed = int((corrected.grades != found.judgments.grades).sum())
    left = len(found.judgments.grades) - len(found.order)
    what = "corrected" if output is not None else "would be corrected by -o"
    console.say(
        f"{counted(len(found.order), 'judgment')} checked, {changed} {what} (another grade has probability {sure:g} or "
        f"more){f'; {left} of documents that the log does not show' if left else ''}"
    )


def _suspect_rows(found: Suspects, top: int) -> list[list[Any]]:
    """Query, document, judge, grade, the likeliest grade, the probabilities of both, and the score."""
    votes, names = found.judgments, found.judgments.item_names()
    columns = votes.grades, found.likeliest, found.given, found.probability, found.score
    return [
        [*names[votes.items[row]], votes.judges[votes.judge_of[row]], *(float(column[row]) for column in columns)]
        for row in found.order[:top].tolist()
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
"""Judges of whom every two are compared."""
_SUSPECT_FIELDS = ["query", "document", "judge", "grade", "likeliest", "P(grade)", "P(likeliest)", "suspicion"]
_FIELDS = ["query", "document", "label", "support", "spread", "judgments"]


def _table(found: Consensus) -> list[list[Any]]:
    columns = found.labels.tolist(), found.support.tolist(), found.spread.tolist(), found.judgments.votes.tolist()
    return [[*names, *row] for names, row in zip(found.judgments.item_names(), zip(*columns, strict=True), strict=True)]


def _write_table(found: Consensus, path: str) -> None:
    from podium.base.files import writing

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_FIELDS, *_table(found)])
    with writing(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _summary(found: Consensus) -> dict[str, Any]:
    made: dict[str, Any] = {"how": found.how, "items": [dict(zip(_FIELDS, row, strict=True)) for row in _table(found)]}
    if found.judges is not None:
        names, tables = found.judgments.judges, found.judges.tables.tolist()
        accuracy = found.judges.accuracy.tolist()
        made["grades"] = found.judgments.scale.tolist()
        made["judges"] = [
            {"judge": name, "accuracy": right, "table": table}
            for name, right, table in zip(names, accuracy, tables, strict=True)
        ]
    return made
