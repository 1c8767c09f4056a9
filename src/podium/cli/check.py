"""`podium check`: the data doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import counted
from podium.cli import console

if TYPE_CHECKING:
    from podium.data import Finding
    from podium.data.table import Table


def check(
    data: Annotated[list[str], typer.Argument(help="Files to be looked at together, or one data folder.")],
) -> None:
    """Look for what is wrong with data before it spoils a model; exit 1 where there is an error.

    Give training, validation and test files together to see what they share.
    """
    from podium.data.doctor.check import check as examine

    worst = 0
    for name, parts in _read(data):
        if name:
            console.out(f"\n{name}")
        for part, dataset in parts.items():
            console.out(
                f"{part}: {counted(dataset.n_queries, 'query', 'queries')}, "
                f"{counted(dataset.n_documents, 'document')}, {counted(dataset.n_features, 'feature')}"
            )
        findings = examine(parts)
        print_findings(findings)
        worst += sum(found.level == "error" for found in findings)
    if worst:
        raise typer.Exit(1)


def print_findings(findings: list[Finding]) -> None:
    """Print what a data doctor found, worst first, and how much it is."""
    for found in findings:
        console.out(f"\n{found.level}: {found.title} ({found.code})")
        console.out(f"  where  {found.where}")
        console.out(f"  why    {found.why}")
        console.out(f"  do     {found.todo}")
        for example in found.examples:
            console.out(f"  e.g.   {example}")
    console.out("nothing found." if not findings else f"\n{counted(len(findings), 'finding')}.")


def _read(paths: list[str]) -> list[tuple[str, dict[str, Table]]]:
    """What is looked at together, under a name for it: the parts of each fold, or the files."""
    from podium.base.errors import ParameterError
    from podium.formats import read_data, read_folder
    from podium.formats.cache.cache import is_cache, verify
    from podium.formats.folder import is_data_folder

    for path in filter(is_cache, paths):
        verify(path)
    if len(paths) == 1 and is_data_folder(paths[0]):
        folds = read_folder(paths[0])
        parts = [[("train", fold.train), ("valid", fold.valid), ("test", fold.test)] for fold in folds]
        names = [fold.name if len(folds) > 1 else "" for fold in folds]
        present: list[dict[str, Table]] = [{name: data for name, data in fold if data is not None} for fold in parts]
        return list(zip(names, present, strict=True))
    for path in paths:
        if is_data_folder(path):
            raise ParameterError(f"{path} is a folder: check it alone, or give files.")
    return [("", {path: read_data(path) for path in paths})]
