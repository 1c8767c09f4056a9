"""`podium demo serve`: the ranking service and its page, on made-up data and two models that learned from it."""

from __future__ import annotations

import socket
from pathlib import Path

from podium.cli import console
from podium.cli.demo_data import make_data

METHODS = ("lambdamart", "listnet")
_PORT = 8080


def demo_serve(output: str, *, port: int | None, seed: int) -> None:
    """Serve until Ctrl-C: what `podium demo` left in the folder is used, and what is missing is made."""
    from podium.cli.serve import run
    from podium.service.settings import Settings

    console.check_output(output)
    folder = Path(output)
    if not (folder / "data" / "test.txt").exists():
        make_data(folder / "data", seed)
    models = [_model(folder, method, seed) for method in METHODS]
    run(
        Settings(
            models=tuple(map(str, models)), data=str(folder / "data" / "test.txt"), store=str(folder / "feedback.db"),
            port=_free_port() if port is None else port,
        )
    )  # fmt: skip


def _model(folder: Path, method: str, seed: int) -> Path:
    """The file of a model; it is trained if it is not there."""
    from podium.data import read_letor
    from podium.training import train

    path = folder / "models" / f"data-{method}.podium"
    if not path.exists():
        console.say(f"training {method} …")
        path.parent.mkdir(parents=True, exist_ok=True)
        learn, valid = (read_letor(folder / "data" / f"{part}.txt") for part in ("train", "vali"))
        with console.printed_warnings():
            train(learn, method, valid=valid, seed=seed).save(path)
    return path


def _free_port() -> int:
    """8080, or any other port if that is in use."""
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", _PORT))
        except OSError:
            tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])
