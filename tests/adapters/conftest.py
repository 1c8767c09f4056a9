"""A small shop: its index, a model trained on its features, and what an engine found for a query."""

import pytest

import podium
from podium.text.collection.outdoor_shop import outdoor_shop
from podium.text.retrieval.candidates import dataset


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    """The folder with shop.index and shop.podium."""
    folder = tmp_path_factory.mktemp("shop")
    documents, queries, qrels = outdoor_shop()
    index = podium.Index.create(folder / "shop.index", documents)
    data = dataset(index, queries, qrels, features="bm25,bm25(field=title),covered_ratio,length,span", depth=30)
    podium.train(data, "regression").save(folder / "shop.podium")
    index.close()
    return folder


@pytest.fixture
def ranker(shop):
    index = podium.Index.open(shop / "shop.index")
    yield podium.TextRanker(index, shop / "shop.podium")
    index.close()


@pytest.fixture
def hits(ranker):
    """Documents of the first stage for the query "winter tent"."""
    return [ranker.index.document(id) for id in ranker.index.search("winter tent", 8).ids]


@pytest.fixture
def order(ranker, hits):
    """Ids of these documents as TextRanker orders them, with their scores."""
    ranked = ranker.rank("winter tent", hits)
    return [(hits[text.position]["id"], text.score) for text in ranked]
