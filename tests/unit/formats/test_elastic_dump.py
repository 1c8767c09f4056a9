"""Documents of Elasticsearch and OpenSearch files."""

import pytest

from podium.base.errors import DataError
from podium.formats.elastic_dump import document_of, documents_of

SOURCES = [{"name": "Tent"}, {"name": "Stove", "index": {"of": "things"}}]
HITS = [{"_index": "shop", "_id": str(k), "_score": 1.0, "_source": source} for k, source in enumerate(SOURCES)]
EXPECTED = [{"_id": str(k), **source} for k, source in enumerate(SOURCES)]


def read(*records):
    return [dict(document) for _, document in documents_of(enumerate(records, 1), "dump.json")]


def test_hits_bulk_lines_and_responses_give_the_same_documents():
    actions = [{"index": {"_index": "shop", "_id": "0"}}, {"create": {"_id": "1", "routing": "x"}}]
    assert read(*HITS) == EXPECTED
    assert read(*(record for pair in zip(actions, SOURCES, strict=True) for record in pair)) == EXPECTED
    assert read({"took": 1, "hits": {"total": 2, "hits": HITS}}) == EXPECTED
    assert read({"hits": {"hits": HITS[:1]}}, {"hits": {"hits": HITS[1:]}}) == EXPECTED


def test_other_records_stay_as_they_are():
    records = [{"id": 1, "index": {"_id": 2}}, {"index": "a book's"}, {"hits": 3}, {"index": {"own": 1}}]
    assert read(*records) == records


def test_a_bulk_action_without_an_id_leaves_it_to_the_document():
    assert read({"index": {}}, {"sku": "P1"}) == [{"sku": "P1"}]


def test_what_has_no_whole_document_is_refused_by_its_line():
    with pytest.raises(DataError, match=r"dump\.json:2: a document of a search engine without its fields"):
        read(HITS[0], {"_index": "shop", "_id": "1"})
    with pytest.raises(DataError, match=r"dump\.json:1: a bulk action 'update'"):
        read({"update": {"_id": "1"}}, {"doc": {"name": "Tent"}})
    with pytest.raises(DataError, match=r"dump\.json:1: a bulk action 'delete'"):
        read({"delete": {"_id": "1"}})
    with pytest.raises(DataError, match=r"dump\.json:1: the file ends with a bulk action"):
        read({"index": {"_id": "1"}})
    with pytest.raises(DataError, match=r"dump\.json:1: a hit must be an object; got 3"):
        read({"hits": {"hits": [3]}})


def test_a_hit_of_a_client_is_its_fields_with_its_id():
    assert document_of(HITS[0]) == {"_id": "0", "name": "Tent"}
