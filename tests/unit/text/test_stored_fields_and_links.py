"""What a store says of stored fields and links."""

import pytest

from podium.text.index.index import Index


@pytest.fixture
def index(tmp_path):
    made = Index.create(tmp_path / "my.index", fields=["text"])
    yield made
    made.close()


def test_values_of_stored_fields_come_back_as_they_were_given(index):
    values = [3, 2.5, True, False, "x", "[1]", ["a", 1], None]
    index.add({"id": k, "text": "", 'my "odd" field': value} for k, value in enumerate(values))
    found = [value for _, value in index.store.stored('my "odd" field')]
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]
    assert index.store.stored_fields() == ['my "odd" field']


def test_a_text_field_is_a_field_too(index):
    index.add([{"id": "a", "text": "long " * 1000}, {"id": "b", "year": 1990}])
    assert [value for _, value in index.store.stored("text")] == ["long " * 1000, None]


def test_a_document_that_was_deleted_and_added_again_has_its_new_links_only(index):
    index.add([{"id": "a", "text": "x", "links": ["b"]}, {"id": "b", "text": "x", "links": ["a"]}])
    index.delete(["a"])
    assert index.store.links() == [("b", "a")]
    index.add([{"id": "a", "text": "x"}])
    assert index.store.links() == [("b", "a")]
