"""`podium rate`: strengths of players from battles, with intervals, and which pair to ask next."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.cli import console, options

if TYPE_CHECKING:
    from podium.arena.rating import Rating


def rate(
    battles: Annotated[
        str,
        typer.Argument(
            metavar="BATTLES",
            help="CSV, TSV, JSON lines or Parquet with columns a, b and winner (a, b, tie or a player's name), or "
            "battle, player and rank; optionally judge, group and weight. Usual names, e.g. model_a, are found.",
        ),
    ],
    law: Annotated[
        Literal["bradley-terry", "davidson", "rao-kupper", "plackett-luce"] | None,
        typer.Option(help="The law of a battle.", show_default="davidson with ties, else bradley-terry"),
    ] = None,
    scale: Annotated[
        Literal["log", "elo"], typer.Option(help="Natural log-strengths, or 400 points for odds of ten around 1000.")
    ] = "log",
    prior: Annotated[
        float, typer.Option(help="Battles that each player also wins and loses against an average player.", min=0.0)
    ] = 0.5,
    level: Annotated[float, typer.Option(help="The confidence level of the intervals.")] = 0.95,
    different_judges: Annotated[
        bool, typer.Option("--different-judges", help="Let judges differ in noise and ties; noisy ones count less.")
    ] = False,
    following: Annotated[
        int | None, typer.Option("--next", help="Also choose this many pairs to ask next.", min=1, show_default=False)
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Write the pairs of --next, otherwise the table, to this CSV file."),
    ] = None,
    report: Annotated[str | None, typer.Option(help="Write an HTML report with charts to this file.")] = None,
    a: Annotated[str | None, typer.Option("--a", help="The column of the first player.", show_default=False)] = None,
    b: Annotated[str | None, typer.Option("--b", help="The column of the second player.", show_default=False)] = None,
    winner: Annotated[str | None, typer.Option(help="The column of the winner.", show_default=False)] = None,
    battle: Annotated[str | None, typer.Option(help="The column of the battle's id.", show_default=False)] = None,
    player: Annotated[str | None, typer.Option(help="The column of the player.", show_default=False)] = None,
    judge: Annotated[str | None, typer.Option(help="The column of the judge.", show_default=False)] = None,
    group: Annotated[
        str | None, typer.Option(help="The column of groups, e.g. tasks: a table each, and one over all.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="The column of weights.", show_default=False)] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Rate players, such as language models in an arena, from battles: strengths and ranks with their intervals.

    Bradley–Terry, with ties Davidson or Rao–Kupper, and Plackett–Luce for more than two at once. The order of battles
    does not matter. If 30 judges or more are named, intervals let battles of one judge depend on each other. Rank
    intervals hold for all players at once. --next says which pair to ask next, by what its battle would tell.
    """
    from podium.arena.battles import read_battles
    from podium.arena.next_pairs import next_pairs
    from podium.arena.rate import rate as rated

    for path, what in ((output, "the table"), (report, "the report")):
        if path not in (None, "-"):
            console.check_file(str(path), what=what)
    columns = {"a": a, "b": b, "winner": winner, "battle": battle, "player": player}
    fought = read_battles(battles, **columns, judge=judge, group=group, weight=weight)
    if fought.guessed is not None:
        console.say(f"{battles}: {fought.guessed}")
    if fought.unfilled:
        console.say(f"{fought.unfilled} rows without a winner left out")
    rating = rated(fought, law, prior=prior, scale=scale, level=level, different_judges=different_judges, seed=seed)
    pairs = next_pairs(rating, following) if following is not None else None
    if report is not None:
        _write_report(rating, report)
    if output is not None:
        rows = [list(pair) for pair in pairs] if pairs is not None else rating.rows()
        _write(_PAIR_HEADS if pairs is not None else _HEADS, rows, output)
    if as_json:
        more = {} if pairs is None else {"next": [pair._asdict() for pair in pairs]}
        console.print_json(rating.to_dict() | more)
        return
    if output != "-":
        _print(rating)
        if pairs is not None and output is None:
            console.out("")
            shown = [[pair.a, pair.b, f"{pair.gain:.4f}", f"{pair.expected:.4f}"] for pair in pairs]
            console.print_table(_PAIR_HEADS, shown)


def _print(rating: Rating) -> None:
    for name, part in rating.groups.items():
        console.out(f"{name}: {part.n_battles} battles")
        console.print_table(_HEADS, _cells(part))
        console.out("")
    if rating.groups:
        console.out(f"all: {rating.n_battles} battles")
    console.print_table(_HEADS, _cells(rating))
    ties = "" if rating.ties is None else f", {_TIES.get(rating.law.name, 'ν')} = {rating.ties:.4f}"
    console.say(f"{rating.method}{ties}")
    if rating.judges is not None and rating.judges.by_chance:
        from podium.base.shown import some_names

        console.say(f"judges whose answers may be chance: {some_names(rating.judges.by_chance)}")
    for note in rating.notes:
        console.say(note)


def _cells(rating: Rating) -> list[list[str]]:
    digits = 0 if rating.scale == "elo" else 4
    return [
        [
            str(row[0]), str(row[1]), *(f"{value:.{digits}f}" for value in row[2:5]), str(row[5]), str(row[6]),
            f"{row[7]:g}", f"{row[8]:.4f}",
        ]
        for row in rating.rows()
    ]  # fmt: skip


def _write_report(rating: Rating, path: str) -> None:
    from podium.base.files import writing
    from podium.pages.arena import page

    with writing(path) as file:
        file.write(page(rating).encode("utf-8", "surrogateescape"))


def _write(heads: list[str], rows: list[Any], path: str) -> None:
    from podium.base.files import writing

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    with writing(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


_HEADS = ["rank", "player", "strength", "from", "to", "best rank", "worst rank", "battles", "won"]
_PAIR_HEADS = ["a", "b", "gain", "expected"]
_TIES = {"davidson": "ν", "rao-kupper": "θ"}
