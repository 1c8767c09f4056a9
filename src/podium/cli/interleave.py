"""`podium interleave`: pages merged from two runs, and which run people prefer by their clicks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import counted
from podium.cli import console, options

if TYPE_CHECKING:
    from podium.online.interleaving import Interleaver
    from podium.online.verdict import Verdict


def interleave(
    first: Annotated[str, typer.Argument(metavar="A", help="The TREC run of the first ranker.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The TREC run of the second ranker.")],
    method: Annotated[
        str, typer.Option(help="team-draft, probabilistic or optimised; with parameters, e.g. 'probabilistic(tau=1)'.")
    ] = "team-draft",
    pages: Annotated[int, typer.Option(help="How many pages to make for each query.", min=1)] = 1,
    length: Annotated[int, typer.Option(help="How many documents a page shows at most.", min=1)] = 10,
    log: Annotated[
        str | None,
        typer.Option(
            "--verdict",
            metavar="LOG",
            help="Read clicks back: JSON Lines with page, query, clicks (positions from 1) and, if known, user.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals of the verdict.")] = 0.95,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Write the pages to this file.")] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare two rankers by clicks on lists merged from both.

    Without --verdict, prints pages as JSON Lines: query, page, documents, and the credit of a click at each position,
    above 0 for A. Show them to people and log their clicks. With --verdict and the same runs, method, length and seed,
    every page is made again from its id, and the clicks say which run wins. Its p is for one look, planned before.
    """
    from podium.base.errors import ParameterError
    from podium.formats.trec.trec import read_run
    from podium.online.interleaving import Interleaver

    if log is not None and output is not None:
        raise ParameterError("-o writes pages and --verdict reads clicks: give one of them.")
    if output not in (None, "-"):
        console.check_file(str(output), what="the pages")
    made = Interleaver(method, read_run(first), read_run(second), length=length, seed=seed)
    if made.left_out:
        console.say(f"{counted(made.left_out, 'query is', 'queries are')} in one run only and left out")
    if log is None:
        _write(made, pages, "-" if output is None else output)
        return
    from podium.online.interleaving.interleaved_log import read_outcomes
    from podium.online.verdict import verdict

    read = read_outcomes(log, made)
    found = verdict(read.outcomes, users=read.users, confidence=confidence)
    if as_json:
        console.print_json({"method": str(made.method), **found.to_dict()})
        return
    _print(found, Path(first).stem, Path(second).stem, "page" if read.users is None else "user")


def _write(made: Interleaver, pages: int, target: str) -> None:
    from podium.base.files import writing

    with writing(target) as file:
        for page in made.pages(pages):
            fields = {"query": page.query, "page": page.page, "documents": page.documents, "credits": page.credits}
            file.write(json.dumps(fields).encode() + b"\n")


def _print(found: Verdict, first: str, second: str, unit: str) -> None:
    interval = "" if found.interval is None else f"{found.interval[0]:+.4f} to {found.interval[1]:+.4f}"
    rows = [
        [f"{unit}s", str(found.units), ""],
        [f"wins of {first}", str(found.wins), ""],
        ["ties", str(found.ties), ""],
        [f"wins of {second}", str(found.losses), ""],
        ["credit a page", f"{found.credit:+.4f}", interval],
    ]
    console.print_table(["", "value", f"{100 * found.confidence:g} % interval"], rows)
    console.say(found.sentence(first, second))
