"""`podium demo serve`: a shop is made once and used again; BM25 and learned models search it, and people can judge."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import asgi
from podium.cli import demo_serve, serve
from podium.service.app import build
from podium.service.settings import Settings


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings that would be served with; the demo has a quick method."""
    found: list[Settings] = []
    monkeypatch.setattr(demo_serve, "METHODS", ("regression",))
    monkeypatch.setattr(serve, "run", found.append)
    return found


@pytest.mark.slow
def test_the_demo_makes_a_shop_once_in_which_a_learned_search_beats_bm25(
    podium: Callable[..., Any], given: list[Settings], tmp_path: Path
) -> None:
    first = podium("demo", "serve", "-o", "d", "--port", "8123")
    assert first.exit_code == 0, first.stderr
    assert "training regression" in first.stderr
    files = {path: path.stat().st_mtime_ns for path in Path("d").rglob("*") if path.is_file()}
    again = podium("demo", "serve", "-o", "d")
    assert "training" not in again.stderr
    assert "indexing" not in again.stderr
    assert all(path.stat().st_mtime_ns == files[path] for path in files)
    assert (given[0].host, given[0].port) == ("127.0.0.1", 8123)
    app: Any = build(given[0])
    client: Any = asgi.Client(app)
    about = client("GET", "/v1/about").json
    assert (about["scale"], about["guidelines"][:5]) == (3, "Which")
    (model,) = client("GET", "/v1/models").json["models"]
    assert (model["searches"], model["odds"]) == (True, True)
    queries = client("GET", "/v1/queries").json
    known = client("GET", f"/v1/queries/{queries['queries'][0]}").json
    assert known["text"] == queries["texts"][0]
    assert known["stored"].keys() == {one["id"] for one in known["documents"]}
    grades = dict(zip((one["id"] for one in known["documents"]), known["grades"], strict=True))

    def top(model: str | None) -> float:
        asked = {"query": known["text"], "k": 10, **({} if model is None else {"model": model})}
        return sum(grades[one["id"]] for one in client("POST", "/v1/search", asked).json["results"])

    assert top("default") > top(None)
    app.state.podium.close()
