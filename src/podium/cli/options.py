"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Metrics = Annotated[
    list[str] | None,
    typer.Option("-m", "--metric", help="A metric, e.g. ndcg@10, map, 'rbp(p=0.8)'; repeat it or separate by commas."),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Compute metrics as a tool does: letor3, letor4, mslr, trec (trec_eval 9), trec10, gdeval, ndeval, "
        "lightgbm, xgboost, catboost, ranklib, sklearn or ranx.",
        show_default=False,
    ),
]
Label = Annotated[str | None, typer.Option(help="The column of labels, in a table.", show_default="label")]
Qid = Annotated[str | None, typer.Option(help="The column of query ids, in a table.", show_default="qid")]
QueryFeatures = Annotated[
    list[str] | None,
    typer.Option(
        "--query-features",
        help="Columns of a table that describe the query, e.g. market,language: the same in all its rows; words are "
        "categories.",
        metavar="COLUMNS",
        show_default=False,
    ),
]
QueryColumn = Annotated[
    str | None,
    typer.Option(
        "--query", help="The column of queries, in tables of judgments and runs.", show_default="by usual names"
    ),
]
DocumentColumn = Annotated[
    str | None,
    typer.Option(
        "--document", help="The column of documents, in tables of judgments and runs.", show_default="by usual names"
    ),
]
GradeColumn = Annotated[
    str | None,
    typer.Option("--grade", help="The column of grades, in a table of judgments.", show_default="by usual names"),
]
JudgeColumn = Annotated[
    str | None,
    typer.Option("--judge", help="The column of judges, in a table of judgments.", show_default="by usual names"),
]
HowConsensus = Literal["majority", "mean", "median", "dawid-skene", "one-coin", "ordinal", "mace", "glad", "wawa"]
"""Ways from votes to one label."""
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)]
SEARCH = typer.Option(help="Tuning of hyperparameters on validation data: grid, optuna, or e.g. 'optuna(trials=50)'.")
Search = Annotated[str, SEARCH]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Run on a Dask cluster: local:N for N processes of this machine, or an address, e.g. tcp://host:8786.",
        metavar="ADDRESS",
        show_default=False,
    ),
]
WithTies = Annotated[
    bool,
    typer.Option("--with-ties", help="Odds from the model's distribution over rankings with ties (pmop, pairties)."),
]
QUERIES = (
    "A file of queries with id and text, if judgments or runs name queries by text; and with further columns for --by."
)
Queries = Annotated[
    str | None,
    typer.Option(
        "--queries",
        help=QUERIES,
        metavar="FILE",
        show_default=False,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Also results for each segment of the queries: a column of --queries, of a table of labelled data, or of "
        "DATA.queries.",
        metavar="COLUMN",
        show_default=False,
    ),
]
