"""Catalogues of products become an index: dumps of search engines, frames, ids and titles of other names."""

import datetime
import decimal
import json
import random

import numpy as np
import pytest

from podium.base.errors import DataError, UnknownNameError
from podium.evaluation.evaluate import evaluate_run
from podium.formats.trec.trec import Qrels
from podium.text.collection.collection import read_documents
from podium.text.collection.flat_fields import flat_fields
from podium.text.collection.id_field import id_field
from podium.text.features import read_features
from podium.text.features.sets import stored_numbers
from podium.text.index.index import Index
from podium.text.index.stored_kinds import stored_kinds
from synthetic_shop import BRANDS, KINDS, make_shop

TENT = {"name": "Red tent", "brand": {"name": "Fell", "id": 3}, "tags": ["dry", "light"], "price": 99.5, "stock": True}
STOVE = {"name": "Stove", "brand": {"name": "Ember", "id": 4}, "tags": ["hot"], "price": 20, "stock": False}
HITS = [{"_index": "shop", "_id": id, "_source": source} for id, source in (("P1", TENT), ("P2", STOVE))]


@pytest.fixture
def create(tmp_path):
    """Make an index that is closed at the end: create(documents, …)."""
    opened = []

    def make(documents, **more):
        opened.append(Index.create(tmp_path / f"{len(opened)}.index", documents, **more))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


def dumps(folder):
    """The same documents as elasticdump writes them, as a bulk file, and as responses on one line and on many."""
    lines = "".join(json.dumps(hit) + "\n" for hit in HITS)
    bulk = "".join(json.dumps({"index": {"_id": h["_id"]}}) + "\n" + json.dumps(h["_source"]) + "\n" for h in HITS)
    response = {"took": 3, "hits": {"hits": HITS}}
    texts = {"dump.jsonl": lines, "bulk.ndjson": bulk, "one.json": json.dumps(response),
             "many.json": json.dumps(response, indent=2), "bom.jsonl": "\ufeff" + lines, "list.json": json.dumps(HITS),
             "crlf.ndjson": bulk.replace("\n", "\r\n")}  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return [folder / name for name in texts]


def test_dumps_of_elasticsearch_are_their_documents(tmp_path, create):
    for path in dumps(tmp_path):
        index = create(read_documents(path))
        assert index.fields == ("name", "brand.name", "tags"), path
        assert index.search("fell").ids == ["P1"]
        assert index.search("hot", by="bm25(fields=[brand.name^2,tags])").ids == ["P2"]
        assert index.document("P2") == {
            "id": "P2", "name": "Stove", "brand.name": "Ember", "brand.id": 4, "tags": "hot", "price": 20,
            "stock": False,
        }  # fmt: skip


def test_hits_of_a_client_are_documents_and_replace_others(create):
    index = create(HITS)
    index.add([{"_id": "P1", "_source": {**TENT, "name": "Blue tent"}}], replace=True)
    index.add([{"id": "P3", "name": "Rope"}])
    assert index.search("tent").ids == ["P1"]
    assert index.document("P1")["name"] == "Blue tent"
    assert len(index) == 3


def test_the_id_is_a_field_with_a_usual_name_or_the_one_asked_for(create):
    for name in (
        "id",
        "_id",
        "doc_id",
        "docid",
        "docno",
        "document_id",
        "product_id",
        "sku",
        "asin",
        "Product ID",
        "url",
    ):
        assert create([{name: "a", "text": "x"}]).search("x").ids == ["a"]
    assert create([{"url": "u", "sku": "s", "text": "x"}]).search("x").ids == ["s"]
    assert create([{"id": 1, "sku": "s", "text": "x"}]).search("x").ids == ["1"]
    chosen = create([{"id": 1, "sku": "s", "text": "x"}], id="sku")
    assert chosen.document("s")["id"] == "s"
    assert [value for _, value in chosen.store.stored("id")] == [1]
    chosen.add([{"id": 1, "sku": "t", "text": "x"}])
    assert chosen.search("x").ids == ["s", "t"]


def test_two_usual_names_and_unknown_ones_are_refused(create):
    with pytest.raises(DataError, match=r"the id of a document: product_id or sku\? .*--id.* product_id, sku, text\."):
        create([{"product_id": 1, "sku": 2, "text": "x"}])
    with pytest.raises(UnknownNameError, match=r"No field 'skuu'\. Did you mean 'sku'"):
        create([{"sku": 1, "text": "x"}], id="skuu")
    with pytest.raises(DataError, match=r'document 1: a document needs an "id"; got .*--id'):
        create([{"key": 1, "text": "x"}])
    with pytest.raises(DataError, match=r'document 2: a document needs an "id"; got'):
        create([{"id": 1, "text": "x"}, {"sku": 2, "text": "x"}])
    assert id_field([]) is None


def test_another_field_is_the_title(create):
    index = create([{"id": 1, "name": "Red tent", "text": "dry"}], title="name")
    assert (index.title, index.fields) == ("name", ("name", "text"))
    assert index.document("1") == {"title": "Red tent", "id": "1", "name": "Red tent", "text": "dry"}
    assert "edit(field=name)" in map(repr, read_features("podium", index))
    reopened = Index.open(index.store.path)
    assert reopened.title == "name"
    reopened.close()
    with pytest.raises(UnknownNameError, match="No field 'titel'"):
        create([{"id": 1, "name": "Red tent"}], title="titel")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_rows_of_a_frame_are_documents(create, library):
    pytest.importorskip("narwhals")
    columns = {"sku": ["a", "b"], "name": ["Red tent", "Stove"], "price": [2.5, None],
               "released": [datetime.date(2024, 1, 31), None]}  # fmt: skip
    frame = pytest.importorskip(library)
    index = create(frame.table(columns) if library == "pyarrow" else frame.DataFrame(columns), title="name")
    assert index.search("stove").ids == ["b"]
    assert index.document("a")["released"] == "2024-01-31"
    assert index.document("b") == {"title": "Stove", "id": "b", "name": "Stove"}


def test_objects_become_dotted_names_and_values_plain_ones():
    assert flat_fields({"a": {"b": {"c": 1}, "d": [2]}, "e": {}, "links": ["x"]}) == {
        "a.b.c": 1, "a.d": [2], "links": ["x"]
    }  # fmt: skip
    assert flat_fields({"of": [{"k": "x", "v": 1}, {"k": ["y", "z"]}, {"v": None}]}) == {
        "of.k": ["x", "y", "z"], "of.v": [1]
    }  # fmt: skip
    assert flat_fields({"p": decimal.Decimal("1.5"), "n": np.int64(3), "m": np.float64("nan")}) == {
        "p": 1.5, "n": 3, "m": None
    }  # fmt: skip
    with pytest.raises(DataError, match=r"two fields are called 'a\.b'"):
        flat_fields({"a.b": 1, "a": {"b": 2}})
    deep: dict = {"x": 1}
    for _ in range(30):
        deep = {"a": deep}
    with pytest.raises(DataError, match="nested more than 20 deep"):
        flat_fields(deep)


def test_stored_numbers_are_features_by_default_and_others_are_left_out(create):
    documents = [
        {"id": k, "text": "tent", "price": 10.0 * k, "stock": k % 2 == 0, "released": f"2024-01-0{k + 1}",
         "rating": None if k == 2 else str(k), "weight": k if k else "n/a", "shop": 7, "brand_id": k, "sizes": [k],
         "price (EUR)": k}
        for k in range(4)
    ]  # fmt: skip
    index = create(documents)
    assert stored_numbers(index).fields == ("price", "stock", "released", "rating")
    assert stored_numbers(index).left_out == {
        "brand_id": "ids", "sizes": "lists", "shop": "equal in all documents",
        "price (EUR)": "such a name cannot be in that of a feature",
    }  # fmt: skip
    names = [repr(feature) for feature in read_features("podium", index)]
    assert names[-4:] == [f"stored(field={name})" for name in stored_numbers(index).fields]
    assert "stored(field=weight)" not in names
    assert stored_kinds(index)["text"] == ["weight"]


def test_a_field_that_is_a_number_in_most_documents_only_is_left_out_with_its_value(create):
    documents = [{"id": k, "text": "tent", "weight": "n/a" if k == 1500 else k} for k in range(1501)]
    assert stored_numbers(create(documents)).left_out == {"weight": "not a number in all documents: 'n/a'"}


def ndcg(index, shop, **how):
    run = {}
    for text in shop.grades:
        hits = index.search(text, 100, **how)
        run[text] = dict(zip(hits.ids, hits.scores.tolist(), strict=True)) or {"nothing": 0.0}
    return evaluate_run(Qrels.from_dict(shop.grades), run, ["ndcg@10"], all_queries=True).means()["ndcg@10"].value


@pytest.mark.slow
def test_all_texts_of_a_catalogue_find_more_than_its_titles(create):
    shop = make_shop(1000, 100, 0, judged=60)
    assert ndcg(create(shop.products), shop) > ndcg(create(shop.products, fields=["title"]), shop) + 0.1


@pytest.mark.slow
def test_descriptions_that_talk_of_other_products_do_little_harm_since_titles_weigh_more(create):
    values = []
    for seed in (7, 8):
        shop, rng = make_shop(1000, 100, 0, judged=60, seed=seed), random.Random(3)
        noisy = [
            {
                "id": one["id"],
                "title": f"{one['brand']['name']} {one['colour']} {one['category'][1]} for {one['use']}",
                "description": " ".join(f"See our {rng.choice(BRANDS)} {rng.choice(KINDS)}." for _ in range(4)),
                "brand": one["brand"],
                "category": one["category"],
            }
            for one in shop.products
        ]
        everything, titles = create(noisy), create(noisy, fields=["title"])
        equal = ndcg(everything, shop, by="bm25(fields=[title,description,brand.name,category])")
        values.append((ndcg(everything, shop), ndcg(titles, shop), equal))
    weighted, titles_alone, equal = np.mean(values, axis=0)
    assert weighted > titles_alone - 0.02
    assert weighted > equal + 0.1


def test_the_title_weighs_more_only_where_there_is_no_text(create):
    assert create([{"id": 1, "title": "a", "text": "b"}]).weights == (1.0, 1.0)
    assert create([{"id": 1, "title": "a"}]).weights == (1.0,)
    assert create([{"id": 1, "name": "a", "about": "b"}], title="name").weights == (3.0, 1.0)
    index = create([{"id": 1, "title": "a1", "about": "b1 c1"}, {"id": 2, "title": "c1", "about": "b1 a1"}])
    assert index.search("a1").ids == ["1", "2"]
    assert index.search("a1").scores.tobytes() == index.search("a1", by="bm25(fields=[title^3,about])").scores.tobytes()
