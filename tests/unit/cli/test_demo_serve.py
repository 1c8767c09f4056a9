"""`podium demo serve`: what is missing is made, what is there is used; data, models and an index are served."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import asgi
from podium.cli import demo_serve, serve
from podium.service.app import build
from podium.service.settings import Settings
from podium.text.collection import standard_library


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings that would be served with; the demo has quick methods and three documents."""
    found: list[Settings] = []
    documents = [{"id": f"d{k}", "title": word, "text": f"{word} and more"} for k, word in enumerate(["heat", "flow"])]
    monkeypatch.setattr(demo_serve, "METHODS", ("regression", "single-feature"))
    monkeypatch.setattr(standard_library, "standard_library", lambda: (documents, [], {}))
    monkeypatch.setattr(serve, "run", found.append)
    return found


@pytest.mark.slow
def test_the_demo_makes_what_is_missing_and_uses_what_is_there(
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
    assert client("GET", "/v1/about").json["queries"] == 40
    assert [one["id"] for one in client("POST", "/v1/search", {"query": "heat"}).json["results"]] == ["d0"]
    keys = [one["model"] for one in client("GET", "/v1/models").json["models"]]
    assert keys == ["data-regression@1", "data-single-feature@1"]
    app.state.podium.close()
