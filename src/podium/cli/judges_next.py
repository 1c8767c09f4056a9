"""`podium judges next`: choose what to judge next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import counted
from podium.cli import console, options

if TYPE_CHECKING:
    from podium.data.table import Table


def next_(
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL", help="Documents with features and ids. Those with a label are judged: nan is none."
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="A model of podium train --method 'bagged(of=…)', whose members may differ; random needs none.",
            show_default=False,
        ),
    ] = None,
    picker: Annotated[
        str, typer.Option(help="What is worth judging: elo, spread, depth, random or mixed; see podium methods elo.")
    ] = "elo",
    queries: Annotated[int, typer.Option(help="The number of queries to judge.", min=1)] = 10,
    documents: Annotated[int, typer.Option(help="The number of documents of each query.", min=1)] = 8,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="The name of a judge; repeat it for a sheet of several.", show_default="judge"),
    ] = None,
    label: options.Label = None,
    qid: options.Qid = None,
    output: Annotated[str, typer.Option("-o", "--output", help="Write the sheet to this CSV file.")] = "-",
    seed: options.Seed = 0,
) -> None:
    """Choose what to judge next (active learning): write a sheet of the documents whose judgment teaches most.

    The sheet is that of `podium judges pool`, and says how each row was chosen, and with what probability. What a model
    chose must not be a test set: use --picker random, or mixed and weights of 1/chance.
    """
    from podium.data.inputs import widened
    from podium.judgments.pooling import write_sheet
    from podium.model import Model
    from podium.pickers import Picker

    if output != "-":
        console.check_file(output, what="the sheet")
    chosen = Picker.parse(picker)
    ranker = None if model is None else Model.load(model)
    data = read_pool(pool, label=label, qid=qid)
    if ranker is not None and data.feature_names is None:
        data = widened(data, max(data.n_features, ranker.n_features))  # a file need not mention its last features
    picks = chosen.pick(ranker, data, queries=queries, documents=documents, seed=seed)
    write_sheet(picks.pool, output, judges=judge or ["judge"], columns=picks.columns())
    sizes = counted(len(picks.pool.query_ids), "query", "queries"), counted(len(picks.pool.document_ids), "document")
    console.say(f"to judge: {sizes[1]} of {sizes[0]}, picked by {chosen}")
    if chosen.needs_model and (picks.chance == 1).all():
        console.say("chosen by the model, not sampled: learn from these judgments, but do not evaluate on them")


def read_pool(source: str, *, label: str | None, qid: str | None) -> Table:
    """Read documents of which any number has a label; a table need not have a column of labels."""
    import warnings

    from podium.base.errors import PodiumWarning
    from podium.data.frames import frame_table, from_frame
    from podium.formats import read_data
    from podium.formats.folder import is_table
    from podium.formats.tables.tables import read_frame

    roles: dict[str, Any] = {key: column for key, column in (("label", label), ("qid", qid)) if column is not None}

    def convert(frame: Any) -> Table:
        table, name = frame_table(frame, source=source), label or "label"
        if name in table.columns and not bool(table[name].is_null().all()):
            return from_frame(table, source=source, **roles)
        if label is not None and name not in table.columns:
            return from_frame(table, source=source, **roles)  # which says so
        without = table.drop([column for column in table.columns if column == name])
        return from_frame(without, source=source, **(roles | {"label": None}))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PodiumWarning)  # documents without a label are what is wanted here
        return read_frame(source, convert) if is_table(source) else read_data(source, **roles)
