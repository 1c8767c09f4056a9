"""The invented shop: the same for a seed, with judgments that follow the words of its queries."""

from podium.text.collection.outdoor_shop import outdoor_shop


def test_judgments_are_of_products_of_the_kind_that_is_asked_for():
    documents, queries, qrels = outdoor_shop(1)
    category = {document["id"]: document["category"] for document in documents}
    assert len(category) == len(documents)
    assert {grade for grades in qrels.values() for grade in grades.values()} == {1.0, 2.0, 3.0}
    for query in queries:
        assert qrels[query["id"]]
        assert all(category[id] in query["text"] for id in qrels[query["id"]])


def test_the_shop_is_the_same_for_the_same_seed():
    assert outdoor_shop(2) == outdoor_shop(2)
    assert outdoor_shop(2) != outdoor_shop(3)
