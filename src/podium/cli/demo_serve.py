"""`podium demo serve`: the ranking service and its web interface, with BM25 and learned search of an invented shop."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
from contextlib import closing
from pathlib import Path

from podium.base.errors import counted
from podium.cli import console

METHODS = ("listnet", "regression")
"""Methods of the models that re-rank what BM25 finds: quick to compile, so that the demo starts in seconds."""
_FEATURES = (
    "bm25", "bm25(field=title)", "bm25(field=text)", "covered_ratio(field=title)", "covered_ratio(field=text)",
    "length(field=title)", "length(field=text)", "stored(field=price)",
    "stored(field=rating)",
)  # fmt: skip
_DEPTH = 50
_PORT = 8080
_GUIDELINES = """Which product would you send to a customer who typed this query?

3: exactly what was asked for.
2: the right kind of product, but something that was asked for is missing, or its rating is poor.
1: the right kind of product, nothing more.
0: another kind of product, or only an accessory.
"""


def demo_serve(output: str, *, port: int | None, seed: int) -> None:
    """Serve until Ctrl-C: the shop's index, models trained on judged queries, and the queries that they have not seen.

    Files of an earlier start are used again.
    """
    from podium.cli.serve import run
    from podium.service.settings import Settings

    console.check_output(output)
    folder = Path(output) / "shop"
    if not folder.exists():
        Path(output).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output) as aside:  # so that half a shop is never served
            _make_shop(Path(aside) / "shop", seed)
            shutil.move(Path(aside) / "shop", folder)
    run(
        Settings(
            models=tuple(str(folder / f"{method}.podium") for method in METHODS),
            data=str(folder / "test.txt"),
            queries=str(folder / "queries.jsonl"),
            index=str(folder / "shop.index"),
            store=str(folder / "feedback.db"),
            guidelines=str(folder / "guidelines.txt"),
            port=_free_port() if port is None else port,
        )
    )


def _make_shop(folder: Path, seed: int) -> None:
    """Index the shop's products, and train on four fifths of its judged queries; the others are test data."""
    from podium.data import split
    from podium.formats import write_letor
    from podium.text.collection.outdoor_shop import outdoor_shop
    from podium.text.index.index import Index
    from podium.text.retrieval.candidates import dataset
    from podium.training import train

    documents, queries, qrels = outdoor_shop(seed)
    folder.mkdir()
    console.say(f"indexing {counted(len(documents), 'product')} of an invented shop …")
    with closing(Index.create(folder / "shop.index", documents)) as index:
        data = dataset(index, queries, qrels, features=_FEATURES, depth=_DEPTH)
    learn, valid, test = split(data, seed=seed)
    for method in METHODS:
        console.say(f"training {method} on {counted(learn.n_queries, 'judged query', 'judged queries')} …")
        with console.printed_warnings():
            train(learn, method, valid=valid, seed=seed).save(folder / f"{method}.podium")
    write_letor(test, folder / "test.txt")
    names = {"features": data.feature_names, "info": data.info}
    (folder / "test.txt.features").write_text(json.dumps(names), "utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries), "utf-8")
    (folder / "guidelines.txt").write_text(_GUIDELINES, "utf-8")


def _free_port() -> int:
    """8080, or any other port if that is in use."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that ended do not hold a port
        try:
            tried.bind(("127.0.0.1", _PORT))
        except OSError:
            tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])
