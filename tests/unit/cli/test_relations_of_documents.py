"""Methods that read `<data>.relations`: trained, ranked with in any order of rows and links, refused without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Podium = Callable[..., Any]
METHODS = ("ranknet(transform=neighbours)", "c-crf", "c-crf(relation=link)", "walk")


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Pages with links that have two numbers, some ids with capitals and dots; lines of documents and of links."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines, links = [], []
    for q in range(6):
        names = [f"Q{q}.p-{d}" for d in range(8)]
        lines += [
            f"{rng.integers(0, 3)} qid:{q} 1:{rng.normal():.3f} 2:{rng.normal():.3f} # {name}\n" for name in names
        ]
        for a in range(8):
            for b in rng.choice(np.delete(np.arange(8), a), 2, replace=False):
                links.append(f"{q} {names[a]} {names[b]} {rng.uniform(0.1, 1):.3f} {rng.normal():.3f}\n")
    Path("pages.txt").write_text("".join(lines))
    Path("pages.txt.relations").write_text("".join(links))
    return lines, links


@pytest.mark.parametrize("method", METHODS)
def test_models_with_links_rank_alike_in_any_order_and_name_the_file_if_it_is_absent(method, pages, podium) -> None:
    lines, links = pages
    trained = podium("train", "pages.txt", "--method", method, "--valid", "none", "-o", "m.podium")
    assert trained.exit_code == 0, trained.output
    assert podium("rank", "m.podium", "pages.txt", "-o", "scores.txt").exit_code == 0
    scores = np.loadtxt("scores.txt")
    assert len(np.unique(scores.round(6))) > 30
    rng = np.random.default_rng(1)
    order = rng.permutation(len(lines))
    Path("moved.txt").write_bytes("".join(lines[k] for k in order).replace("\n", "\r\n").encode())
    Path("moved.txt.relations").write_text("".join(rng.permutation(links)))
    assert podium("rank", "m.podium", "moved.txt", "-o", "moved.scores").exit_code == 0
    np.testing.assert_allclose(np.loadtxt("moved.scores"), scores[order], atol=1e-6)
    Path("moved.txt.relations").unlink()
    alone = podium("rank", "m.podium", "moved.txt")
    assert alone.exit_code == 1
    assert "moved.txt has none" in alone.output
    assert "<data>.relations" in alone.output


def test_a_link_to_a_document_that_is_not_there_is_an_error_with_its_line(pages, podium) -> None:
    Path("pages.txt.relations").write_text("0 Q0.p-0 Q9.p-0\n")
    result = podium("train", "pages.txt", "--method", "c-crf", "-o", "m.podium")
    assert result.exit_code == 1
    assert "pages.txt.relations:1" in result.output
