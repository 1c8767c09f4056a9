"""`podium judges ask`: a machine grades a sheet, by a command or a chat model over HTTP."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import DataError, ParameterError, counted
from podium.cli import console
from podium.cli.document_texts import document_texts, query_texts

if TYPE_CHECKING:
    from podium.judgments.machine_judge import Question

KEY = "PODIUM_JUDGE_KEY"
"""The environment variable that holds the key of a chat model."""


def ask_(
    sheet: Annotated[
        str,
        typer.Argument(
            metavar="SHEET", help="Rows of query and document, as podium judges pool writes them, or other tables."
        ),
    ],
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="Append answers to this JSON lines file; rows that it answers are done."),
    ],
    command: Annotated[
        str | None,
        typer.Option(help="Ask this command: JSON lines in, JSON lines with id and grade out.", show_default=False),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Ask this chat model, e.g. http://localhost:8000/v1/chat/completions.", show_default=False),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The name of the model.", show_default=False)] = None,
    prompt: Annotated[
        str | None,
        typer.Option(help="A file with the prompt: {{query}}, {{document}} and {{grades}} are filled in."),
    ] = None,
    temperature: Annotated[float, typer.Option(help="The temperature of the model.", min=0.0)] = 0.0,
    grades: Annotated[str, typer.Option(help="The grades, from the worst, separated by commas.")] = "0,1,2,3",
    queries: Annotated[
        str | None, typer.Option(help="Texts of queries, with ids: JSON lines, CSV …", show_default=False)
    ] = None,
    documents: Annotated[
        str | None, typer.Option(help="Texts of documents, with ids: JSON lines, CSV, a folder …", show_default=False)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="The most questions a second, with --url.", min=0.001, show_default=False)
    ] = None,
    retries: Annotated[int, typer.Option(help="How often to ask again what has no grade.", min=0)] = 3,
) -> None:
    """Let a machine grade documents (LLM as a judge): a command, or a chat model over HTTP.

    Nothing is sent without --command or --url. A key for the model is read from the environment, PODIUM_JUDGE_KEY, and
    never written. A run that was killed goes on where it stopped. Then compare it with people: podium judges trust.
    """
    from pathlib import Path

    from podium.judgments.machine_connections import by_command, by_url
    from podium.judgments.machine_judge import PROMPT, Machine, ask

    if (command is None) == (url is None):
        raise ParameterError("Say who is to judge: --command 'COMMAND' or --url URL, one of the two.")
    if url is not None and model is None:
        raise ParameterError("--url needs the name of the model: --model NAME.")
    console.check_file(output, what="the answers")
    name = model or os.path.basename((command or "").split()[0])
    text = PROMPT if prompt is None else Path(prompt).read_text("utf-8")
    for field in ("{{query}}", "{{document}}"):
        if field not in text:
            raise ParameterError(f"the prompt lacks {field}, which the text goes in place of.")
    machine = Machine(name, text, temperature, _grades(grades))
    questions = _questions(sheet, queries, documents)
    send = by_command(command) if command is not None else by_url(str(url), key=os.environ.get(KEY), rate=rate)
    before, now, left = ask(questions, machine, output, send, retries=retries)
    console.say(f"{machine.name}: {now} answered now, {before} before, {len(left)} without a grade")
    if left:
        raise DataError(
            f"{counted(len(left), 'row')} without a grade, the first document {left[0].document!r} of query "
            f"{left[0].query!r}. Ask again, or look at the answers of the model."
        )


def _grades(text: str) -> tuple[int, ...]:
    try:
        grades = tuple(int(word) for word in text.split(","))
    except ValueError:
        raise ParameterError(f"--grades are whole numbers separated by commas; got {text!r}.") from None
    if len(set(grades)) < 2:
        raise ParameterError(f"--grades needs two or more that differ; got {text!r}.")
    return grades


def _questions(sheet: str, queries: str | None, documents: str | None) -> list[Question]:
    """The rows of the sheet, each once, with their texts: from files, or from columns of the sheet."""
    import numpy as np

    from podium.formats.tables.records import read_records
    from podium.formats.trec.judged_rows import ids
    from podium.formats.usual_columns import usual_columns
    from podium.judgments.machine_judge import Question

    records = read_records(sheet)
    roles = usual_columns(list(records.columns), ("query", "document"), source=sheet)
    rows = np.arange(records.n_rows)
    names = [ids(records, roles[role], role, rows).tolist() for role in ("query", "document")]
    texts = []
    for role, source, of in (("query", queries, names[0]), ("document", documents, names[1])):
        column = f"{role}_text"
        if source is not None:
            by_id = query_texts(source) if role == "query" else document_texts(source)
            absent = [name for name in of if name not in by_id]
            if absent:
                raise DataError(
                    f"{role} {absent[0]!r} has no text, nor have {len(set(absent)) - 1} others.", where=source
                )
            texts.append([by_id[name] for name in of])
        elif column in records.columns:
            texts.append([str(cell) for cell in records.columns[column]])
        elif role == "query":
            texts.append(of)  # often the query is its text
        else:
            raise DataError(
                f"no texts of documents: give --documents FILE, or a column {column}; the columns are "
                f"{', '.join(records.columns)}.",
                where=sheet,
            )
    return list(dict.fromkeys(Question(*row) for row in zip(*names, *texts, strict=True)))
