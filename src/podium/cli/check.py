"""`podium check`: check data for errors before training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import counted
from podium.cli import console

if TYPE_CHECKING:
    from podium.data import Finding
    from podium.data.table import Table


def check(
    data: Annotated[list[str], typer.Argument(help="Files to check together, or one data folder.")],
) -> None:
    """Check data for errors that spoil a model: leaks, duplicates, odd labels and features; exit 1 on errors.

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
        worst += sum(finding.level == "error" for finding in findings)
    if worst:
        raise typer.Exit(1)


def print_findings(findings: list[Finding]) -> None:
    """Print findings, worst first, and their number."""
    for finding in findings:
        console.out(f"\n{finding.level}: {finding.title} ({finding.code})")
        console.out(f"  where  {finding.where}")
        console.out(f"  why    {finding.why}")
        console.out(f"  do     {finding.todo}")
        for example in finding.examples:
            console.out(f"  e.g.   {example}")
    console.out("nothing found." if not findings else f"\n{counted(len(findings), 'finding')}.")


def _read(paths: list[str]) -> list[tuple[str, dict[str, Table]]]:
    """Data to check together, by name: the parts of each fold, or the files."""
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
