"""Analyser: tokenising, stop words and stemming. It is saved with index and model, for documents and queries alike.

    >>> analyser = Analyser()
    >>> [analyser.term(word) for word in analyser.words("The dog's barking, 東京都!")]
    [('the', True), ('dog', False), ('bark', False), ('東京', False), ('京都', False)]

Text is normalised (NFKC) and case-folded, then cut into words of letters, marks and digits. Scripts that put no blanks
between words (Chinese, Japanese, Korean, Thai …) are cut into overlapping pairs of characters, as in Lucene's CJK
analyser; symbols such as emoji are words. Words are stemmed by Snowball.

Stop words, and words of one letter, are flagged, not dropped: phrases and distances see them, while lengths, BM25 and
language models do not. A query of stop words alone uses them all.
"""

from __future__ import annotations

import functools
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal

from podium.base.errors import PodiumWarning
from podium.base.registry import Named, param, register
from podium.text.stop_words import stop_words

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_LETTERS = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{_SPACELESS}]]"
_TOKEN = (
    rf"(?V1)(?P<spaceless>[{_SPACELESS}]+)|(?!\p{{M}}){_LETTERS}+(?:['’][[\p{{L}}\p{{M}}]--[{_SPACELESS}]]+)?"
    r"|\p{RI}{2}|[\p{So}\p{Extended_Pictographic}][\p{M}\p{Sk}]*"
)
_ASCII = re.compile(r"[a-z0-9_]+(?:'[a-z]+)?")
_BLANKS = {k: chr(k).lower() if chr(k).isalnum() or chr(k) == "_" else " " for k in range(128)}
"""ASCII letters in lower case, and blanks for all that separates words."""
_UNSEEN = (
    *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),  # soft hyphen, grapheme joiner, Arabic mark, Mongolian separator, BOM
    *(*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x2070)),  # joiners, bidi
    *(*range(0x180B, 0x180E), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE01F0)),  # variation selectors, tags
)
"""Invisible characters, which do not separate words."""
_HIDDEN = frozenset(_UNSEEN)
_APOSTROPHES = "\u2019\u2018\u00b4\u1ffd"
_TABLE = dict.fromkeys(_UNSEEN) | str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | {"™": " tm ", "℠": " sm "})
"""Replacements before NFKC, which would make a blank of ´, and of Foo™ the word footm."""


@register
class Analyser(Named):
    """Splits text into words and words into terms."""

    kind: ClassVar[str] = "analyser"
    home: ClassVar[str] = "podium.text.analyser"
    language: str = "english"
    """Chooses stemmer and stop words; never guessed. `none` has neither."""
    stem: bool = True
    stop: bool = True
    """Whether stop words are flagged."""
    accents: Literal["keep", "strip"] = "keep"
    shortest: int = param(default=2, least=1)
    """Words with fewer letters are flagged like stop words."""
    longest: int = param(default=64, least=1)
    """Longer words are cut."""
    cjk: int = param(default=2, least=1)
    """Characters per piece in scripts without blanks."""

    def words(self, text: str) -> list[str]:
        """The words of a text, in order, normalised but neither stemmed nor dropped."""
        return [self.cut(word) for word in self.uncut(text)]

    def uncut(self, text: str) -> list[str]:
        """As `words`, but without cutting long ones."""
        if text.isascii() and self.language != "turkish":
            if "'" not in text:
                return text.translate(_BLANKS).split()
            return [word.removesuffix("'s") for word in _ASCII.findall(text.lower())]
        return [word for _, _, words in self._spans(self._normal(text)) for word in words]

    def cut(self, word: str) -> str:
        """Cut a word that is too long."""
        return word[: self.longest].rstrip("'").removesuffix("'s") if len(word) > self.longest else word

    def term(self, word: str) -> tuple[str, bool]:
        """The term of a word, and whether it is flagged. Flagged words are not stemmed."""
        if word in self._stop_words:
            return word, True
        if len(word) < self.shortest and word.isalnum() and not _spaceless().match(word):
            return word, True
        return self._stemmer(word), False

    def spans(self, text: str) -> Iterator[tuple[int, int, list[str]]]:
        """The places of words in a text: (start, end, normalised words)."""
        seen = [k for k, letter in enumerate(text) if ord(letter) not in _HIDDEN]
        for start, end, words in self._spans(text if len(seen) == len(text) else "".join(text[k] for k in seen)):
            yield seen[start], seen[end - 1] + 1, [part for word in words for part in self.words(word)]

    def _spans(self, text: str) -> Iterator[tuple[int, int, list[str]]]:
        for match in _pattern().finditer(text):
            word = match.group()
            if match.lastgroup == "spaceless" and len(word) > self.cjk:
                for k in range(len(word) - self.cjk + 1):
                    yield match.start() + k, match.start() + k + self.cjk, [word[k : k + self.cjk]]
            else:
                yield match.start(), match.end(), [word.removesuffix("'s")]

    def _normal(self, text: str) -> str:
        text = unicodedata.normalize("NFKC", text.translate(_TABLE))
        if self.language == "turkish":
            text = text.replace("İ", "i").replace("I", "ı")
        text = unicodedata.normalize("NFKC", text.casefold()).replace("i\u0307", "i")  # İ is i and a dot
        if self.accents == "strip":
            marks = (c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
            text = unicodedata.normalize("NFC", "".join(marks))
        return text

    @property
    def _stop_words(self) -> frozenset[str]:
        return stop_words(self.language) if self.stop else frozenset()

    @property
    def _stemmer(self) -> Callable[[str], str]:
        return _snowball(self.language) if self.stem else str


@functools.cache
def _snowball(language: str) -> Callable[[str], str]:
    import Stemmer

    if language == "none":
        return str
    if language not in Stemmer.algorithms():
        warnings.warn(
            f"no stemmer for {language!r}, so words are left as they are. Snowball knows: "
            f"{', '.join(sorted(Stemmer.algorithms()))}.",
            PodiumWarning,
            stacklevel=2,
        )
        return str
    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    return stem


@functools.cache
def _pattern() -> Any:
    import regex

    return regex.compile(_TOKEN)


@functools.cache
def _spaceless() -> Any:
    import regex

    return regex.compile(rf"[{_SPACELESS}]")
