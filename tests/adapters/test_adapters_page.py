"""The blocks of docs/integrations.md that need the packages of these tests print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

for package in (
    "langchain_core",
    "llama_index.core",
    "haystack",
    "rerankers.results",
    "pyterrier",
    "ir_datasets",
    "mlflow",
):
    pytest.importorskip(package, reason="needs pip install 'podium[adapters]'")

import mlflow

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


def test_the_page_of_adapters_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    text = PAGE.read_text(encoding="utf-8").partition("## Re-rankers in pipelines")[2]
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) == 8
    namespace: dict[str, object] = {}
    for code, expected in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        assert printed.getvalue() == expected, code
