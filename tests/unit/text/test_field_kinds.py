"""Which fields of documents are searched by default, and what the others hold."""

import pytest

from podium.text.collection.field_kinds import SAMPLE, can_be_searched, field_kinds, searched_fields


def products(**values):
    """Documents with a title, and the values of further fields in turn."""
    n = max(map(len, values.values()))
    return [{"id": k, "title": "A tent", **{name: of[k % len(of)] for name, of in values.items()}} for k in range(n)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("brand", ["fell", "northpeak"], "text"),
        ("size", ["M", "L", "XL"], "text"),
        ("tags", [["red", "light"], ["blue"]], "text"),
        ("mixed", ["M", 42], "text"),
        ("price", [3, 2.5], "numbers"),
        ("in_stock", [True, False], "numbers"),
        ("price", ["3.50", "12"], "numbers"),
        ("year", ["1990", "2001"], "numbers"),
        ("released", ["2024-01-31", "2024-02-01T10:00:00Z"], "dates"),
        ("photo", ["https://shop.org/1.jpg", "/images/2.png"], "URLs"),
        ("ean", [4006381333931], "ids"),
        ("barcode_text", ["4006381333931", "4006381333948"], "ids"),
        ("categoryId", [3, 4], "ids"),
        ("parent_id", ["tents", "stoves"], "ids"),
        ("part", [f"X-{k}" for k in range(30)], "ids"),
        ("sizes", [[1, 2], [3]], "lists"),
    ],
)
def test_the_kind_of_a_field(name, values, kind):
    assert field_kinds(products(**{name: values}))[name] == kind


def test_all_texts_of_a_catalogue_are_searched_and_nothing_else():
    documents = products(
        description=["Stays dry.", "Stays warm."], brand=["fell"], price=[1.5], sku=["P1", "P2"], url=["a b"]
    )
    assert searched_fields(documents, id="id") == ("title", "description", "brand")
    assert searched_fields(documents, id="id", title="brand") == ("brand", "title", "description")


def test_title_and_text_are_searched_where_there_is_a_text():
    assert searched_fields([{"id": 1, "author": "B", "text": "c", "title": "A"}], id="id") == ("title", "text")
    assert searched_fields([{"id": 1, "author": "B", "text": "c"}], id="id") == ("text",)


def test_a_few_single_words_with_digits_are_text_and_so_is_what_nothing_else_is():
    assert searched_fields([{"id": 1, "code": "x1"}, {"id": 2, "code": "x2"}], id="id") == ("code",)
    assert searched_fields([{"id": 1, "link": "https://a.org"}], id="id") == ("link",)
    assert searched_fields([{"id": 1, "price": 3}], id="id") == ()


def test_a_bounded_number_of_values_decides():
    documents = [*products(size=["M"] * SAMPLE), *products(size=[3] * SAMPLE)]
    assert field_kinds(documents)["size"] == "text"


def test_missing_values_say_nothing():
    assert field_kinds([{"price": None, "note": ""}, {"price": 2.0, "tags": []}, {"price": float("nan")}]) == {
        "price": "numbers"
    }


@pytest.mark.parametrize(("name", "may"), [("brand.name", True), ("Product Name", True), ("größe", True),
    ("price (EUR)", False), ("whole", False), ("1x", False), ("a,b", False), (" a", False), ("", False)])  # fmt: skip
def test_names_of_searched_fields(name, may):
    assert can_be_searched(name) == may
