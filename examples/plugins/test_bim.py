import math
import random

import pytest
from bim import BIM

from podium.testing.names import text_gives_it_back
from podium.text.index.index import Index

WORDS = ["steel", "wing", "flow", "heat", "shock", "wave"]


def brute_force(texts: dict[str, str], query: str) -> dict[str, float]:
    """The scores of documents that have a query term, by the formula."""
    scores: dict[str, float] = {}
    for term in set(query.split()):
        having = [id for id, text in texts.items() if term in text.split()]
        weight = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        scores |= {id: scores.get(id, 0.0) + weight for id in having}
    return scores


def test_its_text_gives_it_back():
    text_gives_it_back(BIM(fields=("title^2", "text")))


@pytest.mark.parametrize("query", ["steel", "wing flow wing", "heat shock wave steel"])
def test_scores_are_its_formula_and_the_best_are_found(tmp_path, query):
    rng = random.Random(0)
    texts = {f"d{k}": " ".join(rng.choices(WORDS, k=rng.randint(1, 5))) for k in range(40)}
    index = Index.create(tmp_path / "index", [{"id": id, "text": text} for id, text in texts.items()])
    index.delete(["d0"])
    del texts["d0"]
    expected = brute_force(texts, query)
    hits = index.search(query, k=40, by="bim")
    assert dict(zip(hits.ids, hits.scores, strict=True)) == pytest.approx(expected)
    best = index.search(query, k=3, by="bim")
    assert best.scores == pytest.approx(sorted(expected.values(), reverse=True)[:3])
    assert index.search(query, k=40, by="bim").scores.tolist() == hits.scores.tolist(), "nothing stays of a search"
