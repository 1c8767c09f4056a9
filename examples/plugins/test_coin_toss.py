import itertools
import random

import pytest
from coin_toss import CoinToss

from podium.testing.names import text_gives_it_back

LISTS = [(list("abc"), list("bda")), (list("abcd"), list("dcba")), (list("ab"), list("ab")), (list("abcd"), list("c"))]


class Coins(random.Random):
    """Coins that fall as a test says."""

    def __init__(self, second: tuple[bool, ...]) -> None:
        self.falls = iter(second)

    def random(self) -> float:
        return 0.0 if next(self.falls) else 0.9


def pages(first: list[str], second: list[str], length: int) -> list[tuple[list[str], list[float]]]:
    """The page of every sequence of coins, all equally likely."""
    coins = itertools.product([False, True], repeat=length)
    return [CoinToss().merge(first, second, Coins(falls), length=length) for falls in coins]


def test_its_text_gives_it_back():
    text_gives_it_back(CoinToss())


@pytest.mark.parametrize(("first", "second"), LISTS)
def test_clicks_by_position_alone_prefer_neither_ranker(first, second):
    for place in range(4):
        credits = [credits[place] for _, credits in pages(first, second, 4) if len(credits) > place]
        assert sum(credits) == 0.0


@pytest.mark.parametrize(("first", "second"), LISTS)
def test_a_document_is_credited_to_a_ranker_whose_best_remaining_it_was(first, second):
    for documents, credits in pages(first, second, 3):
        assert len(set(documents)) == len(documents) <= 3
        for place, (document, credit) in enumerate(zip(documents, credits, strict=True)):
            ranked = first if credit == 1.0 else second
            assert document == next(best for best in ranked if best not in documents[:place])
