"""`podium interleave`: interleave two or more runs, and tell from clicks which one users prefer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import console, options

if TYPE_CHECKING:
    from podium.online.interleaving import Interleaver
    from podium.online.interleaving.multileaving import Multileaver, MultileavingVerdict
    from podium.online.verdict import Verdict


def interleave(
    first: Annotated[str, typer.Argument(metavar="A", help="The run of the first ranker: TREC, CSV, JSON …")],
    second: Annotated[str, typer.Argument(metavar="B", help="The run of the second ranker.")],
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="[C]...", help="Runs of more rankers, for multileaving.", show_default=False),
    ] = None,
    method: Annotated[
        str, typer.Option(help="team-draft, probabilistic or optimised; with parameters, e.g. 'probabilistic(tau=1)'.")
    ] = "team-draft",
    pages: Annotated[int, typer.Option(help="The number of results pages to make for each query.", min=1)] = 1,
    length: Annotated[int, typer.Option(help="The largest number of documents on a page.", min=1)] = 10,
    log: Annotated[
        str | None,
        typer.Option(
            "--verdict",
            metavar="LOG",
            help="Read clicks back: JSON Lines with page, query, clicks (positions from 1) and, if known, user.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="The confidence level of the verdict's intervals.")] = 0.95,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Write the pages to this file.")] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Interleave two rankers: an online experiment by clicks on results pages merged from both.

    Without --verdict, prints pages as JSON Lines: query, page, documents, and the credit of a click at each position,
    above 0 for A; with more than two runs (multileaving), the credit of each. Show them to users and log their clicks.
    With --verdict and the same runs, method, length and seed, every page is made again from its id, and the clicks say
    which run wins. The p-value is for one planned look.
    """
    from podium.cli.judged import read_ranked
    from podium.online.interleaving import Interleaver
    from podium.online.interleaving.multileaving import Multileaver, verdict_of_many

    if log is not None and output is not None:
        raise ParameterError("-o writes pages and --verdict reads clicks: give one of them.")
    if output not in (None, "-"):
        console.check_file(str(output), what="the pages")
    interleaver: Interleaver | Multileaver
    if more:
        paths = [first, second, *more]
        names = run_names(paths)
        runs = {name: read_ranked(path) for name, path in zip(names, paths, strict=True)}
        interleaver = Multileaver(method, runs, length=length, seed=seed)
    else:
        interleaver = Interleaver(method, read_ranked(first), read_ranked(second), length=length, seed=seed)
    if interleaver.left_out:
        where = "not in all runs" if more else "in one run only"
        console.say(f"{counted(interleaver.left_out, 'query is', 'queries are')} {where} and left out")
    if log is None:
        _write(interleaver, pages, "-" if output is None else output)
        return
    from podium.online.interleaving.interleaved_log import read_outcomes
    from podium.online.verdict import verdict

    read = read_outcomes(log, interleaver)
    if isinstance(interleaver, Multileaver):
        _print_many(verdict_of_many(read.outcomes, interleaver.names, users=read.users, confidence=confidence), as_json)
        return
    result = verdict(read.outcomes, users=read.users, confidence=confidence)
    if as_json:
        console.print_json({"method": str(interleaver.method), **result.to_dict()})
        return
    _print(result, Path(first).stem, Path(second).stem, "page" if read.users is None else "user")


def _write(interleaver: Interleaver | Multileaver, pages: int, target: str) -> None:
    from podium.base.files import writing

    with writing(target) as file:
        for page in interleaver.pages(pages):
            fields = {"query": page.query, "page": page.page, "documents": page.documents, "credits": page.credits}
            file.write(json.dumps(fields).encode() + b"\n")


def _print(result: Verdict, first: str, second: str, unit: str) -> None:
    interval = "" if result.interval is None else f"{result.interval[0]:+.4f} to {result.interval[1]:+.4f}"
    rows = [
        [f"{unit}s", str(result.units), ""],
        [f"wins of {first}", str(result.wins), ""],
        ["ties", str(result.ties), ""],
        [f"wins of {second}", str(result.losses), ""],
        ["credit a page", f"{result.credit:+.4f}", interval],
    ]
    console.print_table(["", "value", f"{100 * result.confidence:g} % interval"], rows)
    console.say(result.sentence(first, second))


def run_names(paths: list[str]) -> list[str]:
    """Names of runs: those of their files, or their paths if two files have the same name."""
    stems = [Path(path).stem for path in paths]
    if len(set(paths)) < len(paths):
        raise ParameterError("the same run is given twice.")
    return stems if len(set(stems)) == len(stems) else paths


def _print_many(result: MultileavingVerdict, as_json: bool) -> None:
    if as_json:
        pairs = [{"first": a, "second": b, **pair.to_dict()} for (a, b), pair in result.pairs.items()]
        console.print_json({"credits": dict(zip(result.names, result.credits, strict=True)), "pairs": pairs})
        return
    rows = [[name, f"{credit:.4f}"] for name, credit in zip(result.names, result.credits, strict=True)]
    console.print_table(["ranker", "credit a page"], rows)
    console.out("")
    rows = [
        [f"{a} − {b}", f"{pair.credit:+.4f}", f"{pair.p:.3g}", pair.sentence(a, b)]
        for (a, b), pair in result.pairs.items()
    ]
    console.print_table(["difference", "credit", "p (Holm)", ""], rows)
