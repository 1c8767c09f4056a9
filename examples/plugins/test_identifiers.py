import pytest
from identifiers import Identifiers

from podium.testing.names import text_gives_it_back
from podium.text.index.index import Index
from podium.text.snippets import mark


def test_its_text_gives_it_back():
    text_gives_it_back(Identifiers(stem=False))


@pytest.mark.parametrize("name", ["parseLetorFile", "parse_letor_file", "ParseLETORFile", "PARSE_LETOR_FILE"])
def test_names_are_cut_into_words(name):
    assert Identifiers().words(f"x = {name}()") == ["x", "parse", "letor", "file"]


def test_cutting_words_again_changes_nothing():
    for text in ("readHTML5Page", "the dog's barking, 東京都!", "__init__", "Ångström_unit", ""):
        words = Identifiers().words(text)
        assert Identifiers().words(" ".join(words)) == words


def test_an_index_keeps_it_and_finds_parts_of_names(tmp_path):
    texts = [{"id": "a", "text": "def parseLetorFile(path):"}, {"id": "b", "text": "def profile(path):"}]
    Index.create(tmp_path / "index", texts, analyser="identifiers(stem=false)").close()
    index = Index.open(tmp_path / "index")
    assert index.analyser == Identifiers(stem=False)
    assert index.search("letor_file").ids == ["a"]
    marked = mark(index, index.query("letor"), "def parseLetorFile(path):")
    assert [marked.text[start:end] for start, end in marked.marks] == ["parseLetorFile"]
