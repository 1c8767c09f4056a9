"""Folders of HTML pages: headings, links, the texts of links to a page, and features of them."""

import numpy as np
import pytest

from podium.text.collection.collection import read_documents
from podium.text.collection.html_page import html_heading, html_links
from podium.text.collection.pages import address
from podium.text.context import Context
from podium.text.features import Plan, read_features
from podium.text.index.index import Index

PAGES = {
    "index.html": "<title>Home</title><h1>Welcome</h1><a href='sub/heat.html#top'>All about <b>heat</b></a>"
    ' <A HREF="https://example.org/x">outside</A> <a name=here>no link</a> <a href="mailto:a@b">mail</a>',
    "sub/heat.html": "<title>Heat</title><h2>Slabs</h2><p>Heat flows."
    " <a href=../>home page</a> <a href=heat.html>self</a>",
    "sub/cold wind.html": "<p>First line<p>more <a href='/sub/heat.html?q=1'>warm &amp; dry</a>",
    "note.txt": "plain text",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in PAGES.items():
        path = tmp_path / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "pages"


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("<h2>two</h2><h1> one <i>!</i></h1><h1>other</h1>", "one !"),
        ("<h3>three</h3><h2>two</h2><h2>second</h2>", "two"),
        ("<h1></h1><p>a line<p>more", "a line"),
        ("<h1>never closed", "never closed"),
        ("", ""),
    ],
)
def test_the_heading_of_a_page(page, heading):
    assert html_heading(page) == heading


def test_links_with_their_texts_however_broken():
    assert html_links('<a href="a">one <b>two</b></a><a href=b>three<a HREF=\'c&amp;d\'>four') == [
        ("a", "one two"), ("b", "three"), ("c&d", "four"),
    ]  # fmt: skip
    assert html_links("<a data-href=x>no</a><a href=''>no</a>") == []


@pytest.mark.parametrize(
    ("link", "path"),
    [("b.html", "sub/b.html"), ("../b.html", "b.html"), ("/b.html", "b.html"), ("../../../b.html", "b.html"),
     ("#part", "sub/a.html"), ("b%20c.html?x#y", "sub/b c.html"), ("http://x/y", "http://x/y"), ("//x/y", "//x/y")],
)  # fmt: skip
def test_addresses_within_the_folder(link, path):
    assert address("sub/a.html", link) == path


def test_pages_know_who_links_to_them_and_with_which_words(folder):
    pages = {page["id"]: page for page in read_documents(folder)}
    assert set(pages) == set(PAGES)
    assert pages["sub/heat.html"]["anchor"].split("\n") == ["All about heat", "warm & dry"]
    assert pages["index.html"]["anchor"] == "home page"
    assert pages["index.html"]["links"] == ["sub/heat.html", "https://example.org/x"]
    assert pages["sub/heat.html"]["links"] == ["index.html"]
    assert pages["sub/cold wind.html"]["links"] == ["sub/heat.html"]
    assert [pages[id]["heading"] for id in ("index.html", "sub/heat.html", "sub/cold wind.html")] == [
        "Welcome", "Slabs", "First line",
    ]  # fmt: skip
    assert pages["sub/heat.html"]["url"] == "sub/heat.html"
    assert "anchor" not in pages["note.txt"]


def test_the_features_of_letor_4_come_from_a_folder_of_pages(folder, tmp_path):
    fields = ["title", "text", "anchor", "url", "heading"]
    index = Index.create(tmp_path / "my.index", read_documents(folder), fields=fields)
    features = read_features("letor4", index)
    assert len(features) == 46
    context = Context(index, index.query("heat"), index.numbers(["sub/heat.html", "index.html"]))
    values = dict(zip(map(repr, features), Plan(features, index).matrix(context).T, strict=True))
    assert values["tf(field=anchor)"].tolist() == [1, 0]
    assert values["tf(field=text)"].tolist() == [1, 1]
    assert values["tf(field=url)"].tolist() == [1, 0]
    assert values["inlinks"].tolist() == [2, 1]
    assert values["outlinks"].tolist() == [1, 1]
    assert values["url_slashes"].tolist() == [1, 0]
    assert np.isfinite(values["pagerank"]).all()
    index.close()
