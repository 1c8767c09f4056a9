"""The analyser on many scripts, and on any text at all."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import PodiumWarning
from podium.text.analyser import Analyser
from podium.text.stop_words import stop_words

PLAIN = Analyser()
LANGUAGES = (
    "english german french spanish italian portuguese dutch swedish danish norwegian finnish russian".split()  # noqa: SIM905
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी में किताब", ["हिन्दी", "में", "किताब"]),
        ("क\u094d\u200dष", ["क\u094dष"]),  # a joiner within a word
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("日本語とEnglish混在", ["日本", "本語", "語と", "english", "混在"]),
        ("葛\U000e0100飾区", ["葛飾", "飾区"]),  # a variation selector
        ("ﾃﾞｰﾀ データ", ["デー", "ータ", "デー", "ータ"]),
        ("한국어", ["한국", "국어"]),
        ("ไทย", ["ไท", "ทย"]),
        ("كتاب\u200f \u202bكتاب\u202c", ["كتاب", "كتاب"]),
        ("עברית\u200e!", ["עברית"]),
        ("Donaudampfschifffahrtsgesellschaft", ["donaudampfschifffahrtsgesellschaft"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("İstanbul istanbul I", ["istanbul", "istanbul", "i"]),
        ("👍🏽 👍", ["👍🏽", "👍"]),
        ("👨\u200d👩\u200d👧", ["👨", "👩", "👧"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("↔\ufe0f ❤\ufe0f ◾", ["↔", "❤", "◾"]),
        ("e\u0301te\u0301", ["\u00e9t\u00e9"]),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", ["softhyphen", "zero", "width", "mark"]),
        ("don't don’t don´t dog's dog’s DOG'S", ["don't", "don't", "don't", "dog", "dog", "dog"]),
        ("3.14 1,000 x2 v2_final _", ["3", "14", "1", "000", "x2", "v2_final", "_"]),
        ("ﬁnance Ｆｕｌｌ Foo™", ["finance", "full", "foo", "tm"]),
        ("a\0b\nc\td", ["a", "b", "c", "d"]),
        ("lone \ud800 half", ["lone", "half"]),
        ("\u0301 ¨ !", []),
        ("", []),
    ],
)
def test_words_of_many_scripts(text, words):
    assert PLAIN.words(text) == words


def test_turkish_has_two_letters_i():
    turkish = Analyser(language="turkish", stem=False)
    assert turkish.words("ISPARTA Isparta ısparta") == ["ısparta"] * 3
    assert turkish.words("İZMİR İzmir izmir I\u0307zmir") == ["izmir"] * 4


def test_long_words_are_cut():
    assert PLAIN.words("x" * 10_000) == ["x" * 64]
    assert PLAIN.words("é" * 10_000) == ["é" * 64]
    assert Analyser(longest=3).words("abcdef abc'def a'sz") == ["abc", "abc", "a"]


def test_accents_are_stripped_on_demand():
    assert Analyser(accents="strip").words("Crème BRÛLÉE naïve") == ["creme", "brulee", "naive"]
    assert PLAIN.words("Crème") == ["crème"]


def test_stop_words_and_single_letters_are_flagged_and_not_stemmed():
    assert PLAIN.term("this") == ("this", True)
    assert PLAIN.term("x") == ("x", True)
    assert PLAIN.term("7") == ("7", True)
    assert PLAIN.term("running") == ("run", False)
    assert PLAIN.term("東") == ("東", False)
    assert PLAIN.term("👍") == ("👍", False)
    assert Analyser(stop=False, shortest=1).term("the") == ("the", False)


def test_an_unknown_language_has_no_stemmer_and_says_so():
    with pytest.warns(PodiumWarning, match="no stemmer for 'klingon'"):
        assert Analyser(language="klingon").term("running") == ("running", False)
    assert Analyser(language="none").term("running") == ("running", False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_as_the_analyser_writes_words(language):
    found, analyser = stop_words(language), Analyser(language=language)
    assert 30 <= len(found) <= 130
    for word in found:
        assert analyser.words(word) == [word], word
        assert analyser.term(word) == (word, True)


@pytest.mark.parametrize(
    ("language", "text", "content"),
    [
        ("german", "Die Straße und das Haus der Eltern sind dort", ["strass", "haus", "elt"]),
        ("french", "le chat est sur la table avec nous", ["chat", "tabl"]),
        ("spanish", "el perro de la casa no es para ti", ["perr", "cas"]),
        ("russian", "я и ты были в доме, но он не был", ["дом"]),
    ],
)
def test_sentences_lose_their_function_words(language, text, content):
    analyser = Analyser(language=language)
    terms = [analyser.term(word) for word in analyser.words(text)]
    assert [term for term, flagged in terms if not flagged] == content


ANALYSERS = [
    PLAIN,
    Analyser(accents="strip"),
    Analyser(language="turkish"),
    Analyser(language="greek"),
    Analyser(longest=4),
    Analyser(cjk=1),
    Analyser(cjk=3),
]


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=20), st.sampled_from(ANALYSERS))
def test_any_text_gives_words_that_are_words_in_themselves(text, analyser):
    words = analyser.words(text)
    for word in words:
        assert 0 < len(word) <= analyser.longest
        assert analyser.words(word) == [word]
        term, _ = analyser.term(word)
        assert term
        assert len(term.encode())
    for form in ("NFC", "NFD"):
        assert analyser.words(unicodedata.normalize(form, text)) == words


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=40), st.sampled_from(ANALYSERS[:2]))
def test_the_fast_path_of_ascii_is_the_general_one(text, analyser):
    assert analyser.words(text + " é")[:-1] == analyser.words(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=20))
def test_spans_lie_within_the_text_in_order(text):
    last = 0
    for start, end, words in PLAIN.spans(text):
        assert last <= start < end <= len(text) or start < last < end
        assert all(PLAIN.words(word) == [word] for word in words)
        last = start


def test_spans_are_where_the_words_are_written():
    text = "The Dogs’ 東京都 Straße"
    assert [(text[a:b], words) for a, b, words in PLAIN.spans(text)] == [
        ("The", ["the"]),
        ("Dogs", ["dogs"]),
        ("東京", ["東京"]),
        ("京都", ["京都"]),
        ("Straße", ["strasse"]),
    ]


def test_the_repr_of_an_analyser_parses():
    for analyser in ANALYSERS:
        assert Analyser.parse(repr(analyser)) == analyser
