import math

import pytest

from podium.formats.bleu import corpus_bleu, count, sentence_bleu


def test_a_word_counts_no_more_often_than_in_a_single_reference():
    found = count("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"])
    assert found.matches == (2, 0, 0, 0)  # of the paper: 2/7
    assert found.totals == (7, 6, 5, 4)


def test_a_sentence_is_smoothed_by_one_for_all_but_single_words():
    found = sentence_bleu("a b c d", ["a b x d"])  # words 3/4, pairs 1/3, no longer ones
    assert found == pytest.approx((3 / 4 * (1 + 1) / (3 + 1) * 1 / (2 + 1) * 1 / (1 + 1)) ** 0.25)


def test_a_short_translation_pays_and_a_long_one_does_not():
    assert sentence_bleu("a b c d", ["a b c d e f"]) == pytest.approx(math.exp(1 - 6 / 4))
    assert sentence_bleu("a b c d e f g h", ["a b c d e f g h"]) == 1.0
    many = sentence_bleu("a b c d e", ["a b c d"])
    assert many == pytest.approx((4 / 5 * (3 + 1) / (4 + 1) * (2 + 1) / (3 + 1) * (1 + 1) / (2 + 1)) ** 0.25)


def test_the_nearest_reference_sets_the_length_and_of_two_the_shorter():
    assert count("a b c", ["a", "a b c d e f g", "a b c d"]).reference == 4
    assert count("a b c", ["a b c d", "a b"]).reference == 2


def test_nothing_in_common_and_nothing_at_all_are_0():
    assert sentence_bleu("x y", ["a b"]) == 0.0
    assert sentence_bleu("", ["a b"]) == 0.0
    assert corpus_bleu([count("x", ["a"])]) == 0.0
    assert corpus_bleu([]) == 0.0


def test_a_corpus_is_measured_by_the_sums_of_its_counts():
    pairs = [("a b c d e", ["a b c d e"]), ("a b c x y z", ["a b c d e"])]
    expected = ((5 + 3) / 11 * (4 + 2) / 9 * (3 + 1) / 7 * (2 + 0) / 5) ** 0.25  # 11 words for 10: no penalty
    assert corpus_bleu(count(*pair) for pair in pairs) == pytest.approx(expected)
    assert corpus_bleu([count("a b c d", ["a b c d e f"])]) == pytest.approx(math.exp(1 - 6 / 4))
