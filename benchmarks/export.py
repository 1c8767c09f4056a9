"""Every method in every engine: train, export, and compare the order of each test query.

    python -m benchmarks.export FOLDER [--method NAME …]

FOLDER has train.txt, vali.txt and test.txt, e.g. a fold of OHSUMED. Methods are the named ones and, for what none of
them does, RECIPES. A cell is the number of test queries whose order changed, and + where the scores were the engine's
own; without + they are emulated. The last lines say why the others are refused. The exit code is 1 where an order
changed or a proof does not hold. All methods take some minutes.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import podium
from podium.base.errors import IncompatibleError
from podium.data import Dataset
from podium.export import Proof, Target, export
from podium.methods import METHODS
from podium.model import Model

PRODUCTS = "second-order(correlation=0.05)"
RECIPES = (
    f"listnet(transform={PRODUCTS})",
    f"listnet(transform=nystrom(of={PRODUCTS}))",
    "ranknet(scorer=mlp)",
    "ranknet(scorer=mlp,transform=second-order(of=minmax))",
    "ranknet(scorer=mlp,transform=nystrom)",
    f"lambdamart(transform={PRODUCTS})",
    "lambdamart(transform=minmax)",
    "lambdamart(transform=add-minmax)",
    f"rankboost(transform={PRODUCTS})",
)
NO_GAPS = {"ranklib": "ranklib(missing_as_zero=true)"}  # for data without missing values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--method", action="append", help="all without it", default=[])
    asked = parser.parse_args()
    train, valid, test = (podium.read_letor(asked.folder / f"{part}.txt") for part in ("train", "vali", "test"))
    targets = list(Target.catalogue())
    print("method".ljust(20), *(name.rjust(len(name)) for name in targets), flush=True)
    proofs: list[Proof] = []
    refused: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for method in asked.method or (*METHODS, *RECIPES):
        model = podium.train(train, method, valid=valid, metric="ndcg@10")
        cells = []
        for target in targets:
            found = handed(model, target, test)
            if isinstance(found, str):
                refused[re.sub(rf"(?<![\w-]){target}(?![\w-])", "TARGET", found)][method].append(target)
                cells.append("–".rjust(len(target)))
            else:
                proofs.append(found)
                cells.append(cell(found).rjust(len(target)))
        print(method.ljust(20), *cells, flush=True)
    show(proofs, refused)
    sys.exit(any(not proof.holds or changed(proof) for proof in proofs))


def handed(model: Model, target: str, test: Dataset) -> Proof | str:
    """The proof of an export, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return export(model, NO_GAPS.get(target, target), Path(folder, "model"), data=test)
        except IncompatibleError as error:
            return str(error)


def changed(proof: Proof) -> int:
    """The test queries whose order changed."""
    assert proof.orders is not None, "data was given"
    return proof.orders.changed


def cell(proof: Proof) -> str:
    """What the table says of an export."""
    return f"{changed(proof)}{'+' if proof.engine != 'emulated' else ''}{'' if proof.holds else ' NOT PROVEN'}"


def show(proofs: list[Proof], refused: dict[str, dict[str, list[str]]]) -> None:
    """Totals, and why models were refused."""
    orders = [proof.orders for proof in proofs if proof.orders is not None]
    print(
        f"\n{len(proofs)} exports, {sum(proof.holds for proof in proofs)} proven; of {sum(o.queries for o in orders)} "
        f"rankings {sum(o.changed for o in orders)} changed; {sum(o.tied for o in orders)} pairs of neighbours in them "
        f"became equal, {sum(o.near for o in orders)} were within twice the bound"
    )
    print("engines:", ", ".join(sorted({proof.engine for proof in proofs})))
    for why, cases in refused.items():
        print(f"\nrefused: {why}")
        for targets in {tuple(found) for found in cases.values()}:
            print(
                f"   {', '.join(method for method in cases if tuple(cases[method]) == targets)}: {', '.join(targets)}"
            )


if __name__ == "__main__":
    main()
