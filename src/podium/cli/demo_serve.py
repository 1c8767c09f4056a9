"""`podium demo serve`: the ranking service and its web interface, on data, models and index of the other demos."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

from podium.cli import console
from podium.cli.demo_data import make_data

METHODS = ("lambdamart", "listnet")
"""Methods of the models that rank the data."""
_PORT = 8080


def demo_serve(output: str, *, port: int | None, seed: int) -> None:
    """Serve until Ctrl-C, with the files of the other demos; missing ones are made.

    A model for search is served if `podium demo search` has written one.
    """
    from podium.cli.serve import run
    from podium.service.settings import Settings

    console.check_output(output)
    folder = Path(output)
    if not (folder / "data" / "test.txt").exists():
        make_data(folder / "data", seed)
    models = [_model(folder, method, seed) for method in METHODS]
    searching = folder / "model.podium"
    if not (folder / "docs.index").exists():
        _make_index(folder / "docs.index")
    run(
        Settings(
            models=tuple(map(str, [*models, searching] if searching.exists() else models)),
            data=str(folder / "data" / "test.txt"),
            index=str(folder / "docs.index"),
            store=str(folder / "feedback.db"),
            port=_free_port() if port is None else port,
        )
    )


def _model(folder: Path, method: str, seed: int) -> Path:
    """Path of a model, which is trained if the file does not exist."""
    from podium.formats import read_letor
    from podium.training import train

    path = folder / "models" / f"data-{method}.podium"
    if not path.exists():
        console.say(f"training {method} …")
        path.parent.mkdir(parents=True, exist_ok=True)
        learn, valid = (read_letor(folder / "data" / f"{part}.txt") for part in ("train", "vali"))
        with console.printed_warnings():
            train(learn, method, valid=valid, seed=seed).save(path)
    return path


def _make_index(path: Path) -> None:
    """Index the documentation of Python in a temporary folder, so that half an index is never served."""
    from podium.text.collection.standard_library import standard_library
    from podium.text.index.index import Index

    console.say("indexing Python's documentation …")
    documents, _, _ = standard_library()
    with tempfile.TemporaryDirectory(dir=path.parent) as aside:
        Index.create(Path(aside) / path.name, documents).close()
        (Path(aside) / path.name).rename(path)


def _free_port() -> int:
    """8080, or any other port if that is in use."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that ended do not hold a port
        try:
            tried.bind(("127.0.0.1", _PORT))
        except OSError:
            tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])
