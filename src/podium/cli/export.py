"""`podium export`: write a model for another engine, with a proof; `podium prove`: check an exported file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.export import Proof, Target
    from podium.export.feature_sets import FeatureSet
    from podium.model import Model

Model_ = Annotated[str, typer.Argument(metavar="MODEL", help="A model that podium train or podium import wrote.")]
To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="TARGET",
        help="onnx, xgboost, lightgbm, ranklib, elasticsearch-ltr, opensearch-ltr, elastic, solr, vespa, "
        "opensearch-hybrid, elasticsearch-linear, c or python; "
        "with options e.g. 'onnx(precision=single)'.",
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The engine's names of the features, one per line, in the model's order.",
        show_default="the model's, or f1, f2, …",
    ),
]
Data = Annotated[
    str | None, typer.Option(metavar="DATA", help="Documents whose rankings are compared.", show_default=False)
]
ProofFile = Annotated[
    str | None, typer.Option("--proof", metavar="FILE", help="Also write the proof as JSON.", show_default=False)
]


def export(
    model: Model_,
    to: To,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")],
    features: Features = None,
    data: Data = None,
    proof: ProofFile = None,
    feature_set: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also write the engine's definitions of the model's text features: elasticsearch-ltr, opensearch-ltr "
            "and solr.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a model for another engine, with a proof.

    The proof says whether the engine decides as the model does for every float32 input, and how much rounding can
    change scores; "proven except on" names values that no document of --data has, or that are 0 but for rounding.
    FILE.vectors.jsonl has rows to replay in the engine. If the proof does not hold, the file is FILE.unproven, and the
    exit code is 1.
    """
    from podium.base.errors import ParameterError, counted
    from podium.base.files import write_aside
    from podium.cli.documents import read_names
    from podium.export import Target
    from podium.export import export as write
    from podium.model import Model

    if output == "-":
        raise ParameterError("-o -: an export is a file and its vectors. Give it a file name.")
    console.check_file(output, what="a model")
    target = Target.parse(to)
    fitted = Model.load(model)
    documents, names = _documents(data, fitted), read_names(features)
    definitions = None if feature_set is None else _definitions(fitted, names, target)
    result = write(fitted, target, output, data=documents, feature_names=names)
    console.out(str(result))
    where = output if result.holds else f"{output}.unproven"
    console.out(f"written    {where}, {output}.vectors.jsonl")
    if target.replay:
        console.out(f"replay     {target.replay.replace('FILE', where)}")
    if feature_set is not None and definitions is not None:
        with write_aside(feature_set) as file:
            file.write(definitions.body)
        with write_aside(f"{feature_set}.notes.txt") as file:
            file.write("".join(f"{note}\n" for note in definitions.notes).encode())
        console.out(
            f"features   {feature_set}: {counted(len(definitions.definitions), 'definition')}; {feature_set}.notes.txt"
        )
        for note in definitions.notes:
            console.out(f"  note     {note}")
    _end(result, proof)


def _definitions(model: Model, names: tuple[str, ...] | None, target: Target) -> FeatureSet:
    from podium.base.errors import IncompatibleError
    from podium.export.feature_sets import STORE, feature_set
    from podium.export.solr import Solr, tells_missing

    engine_names = names or model.feature_names
    if engine_names is None:
        raise IncompatibleError(
            "the model's features have no names. Train on data of podium features, or give --features."
        )
    missing = tells_missing(target.accept(model, names=names).form.forest)
    store = target.store if isinstance(target, Solr) else STORE
    return feature_set(engine_names, target.name, store=store, missing=missing)


def prove(
    model: Model_,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that was exported from the model.")],
    to: To,
    features: Features = None,
    data: Data = None,
    proof: ProofFile = None,
) -> None:
    """Check that an exported file agrees with its model; exit code 1 if it does not."""
    from podium.cli.documents import read_names
    from podium.export import prove_file
    from podium.model import Model

    fitted = Model.load(model)
    result = prove_file(fitted, to, file, data=_documents(data, fitted), feature_names=read_names(features))
    console.out(str(result))
    _end(result, proof)


def _end(proof: Proof, path: str | None) -> None:
    if path is not None:
        from podium.base.files import write_aside

        with write_aside(path) as file:
            file.write(json.dumps(proof.to_dict(), indent=1).encode() + b"\n")
    if not proof.holds:
        raise typer.Exit(1)


def _documents(data: str | None, model: Model) -> Table | None:
    from podium.cli.documents import read_documents

    return None if data is None else read_documents(data, model, labels=False)
