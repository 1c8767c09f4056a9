"""Query language: phrases, words that must or must not occur, fields, prefixes, misspelt words, brackets and filters.

    heat transfer              any of the words
    "heat transfer"            the words next to each other, in this order
    "heat slabs"~5             the words near each other
    +heat -cold                must, must not
    title:heat  title:"a b"    in one field
    transf*                    words that begin so
    transfre~  transfre~2      with up to one or two typos
    (heat OR cold) AND slab    brackets
    year>=1990                 a filter on a stored field
    heat^2                     counts twice

A text without signs means what it means without the language. See `query_matches.py` for what a query matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from podium.base.errors import ParameterError
from podium.text.analyser import Analyser
from podium.text.retrieval.base import MOST
from podium.text.retrieval.filters import Condition, read_condition

MOST_CLAUSES = 64
"""Words, phrases and filters of a query."""
MOST_OPEN = 16
"""Prefixes and misspelt words of a query, each of which looks through the vocabulary."""
MOST_WORDS = 64
"""Words of a phrase."""
MOST_NEAR = 100
MOST_TYPOS = 2
_DEEPEST = 20
"""Brackets within brackets."""
_FILTER = re.compile(r'[^\s()"<>=!:^~*]+(?:>=|<=|!=|=|>|<)(?:"[^"]*"|[^\s()"]*)')
_FIELD = re.compile(r'[^\s()"<>=!:^~*+-][^\s()"<>=!:^~*]*:')
_PIECE = re.compile(r'[^\s()"^~*]+')
_WEIGHT = re.compile(r"\^([^\s()]*)")
_JOINING = re.compile(r"(?:AND|OR|NOT)(?=[\s()]|$)")
_NEAR = re.compile(r"~([0-9]*)")


@dataclass(frozen=True)
class Phrase:
    """Words that a field has in this order and next to each other; a single word is a phrase, too.

    With `near`, words may be moved: each by a number of places, and these numbers differ by at most `near`, so that
    `near` other words may be between them, and two words may change places if it is 2.
    """

    words: tuple[str, ...]
    near: int = 0
    field: str | None = None
    """The only field that counts; None for all."""
    quoted: bool = True
    """A stop word without quotes counts only if its group has nothing else."""


@dataclass(frozen=True)
class Prefix:
    """Words whose term begins with these letters."""

    letters: str
    field: str | None = None


@dataclass(frozen=True)
class Fuzzy:
    """Words whose term is near a word or its stem: letters added, left out, replaced, or exchanged with the next."""

    word: str
    typos: int = 1
    field: str | None = None


@dataclass(frozen=True)
class Filter:
    """A condition on a stored field."""

    condition: Condition


@dataclass(frozen=True)
class Clause:
    """A part of a group: it must match (+), must not (-), or may."""

    sign: str
    node: Node
    weight: float = 1.0


@dataclass(frozen=True)
class Group:
    """Clauses in brackets: a document has all that must match, none that must not, and one at least that may.

    If a word must match, those that may only add to the score.
    """

    clauses: tuple[Clause, ...]


Node = Phrase | Prefix | Fuzzy | Filter | Group


def parse(text: str, analyser: Analyser, fields: Sequence[str]) -> Group:
    """Parse a query; errors say the column."""
    return _Parser(text, analyser, fields).parse()


class _Parser:
    """A recursive descent: group, alternatives (OR), pairs (AND), unit."""

    def __init__(self, text: str, analyser: Analyser, fields: Sequence[str]) -> None:
        self.text, self.analyser, self.fields = text, analyser, fields
        self.at, self.count, self.searches = 0, 0, 0

    def parse(self) -> Group:
        group = self._group(None, depth=0)
        if self.at < len(self.text):
            raise self._error("a bracket is closed that was not opened")
        return group

    def _error(self, problem: str, at: int | None = None) -> ParameterError:
        column = (self.at if at is None else at) + 1
        return ParameterError(f"query {self.text[:80]!r}, column {column}: {problem}.")

    def _group(self, field: str | None, *, depth: int) -> Group:
        """Clauses up to the end or a closing bracket; a filter must hold."""
        if depth > _DEEPEST:
            raise self._error(f"brackets may be nested {_DEEPEST} times at most")
        first, clauses = self.at, list[Clause]()
        while not self._ends():
            part = self._joined("OR", "", lambda: self._joined("AND", "+", lambda: self._unit(field, depth)))
            clauses += [
                replace(clause, sign="+") if isinstance(clause.node, Filter) and not clause.sign else clause
                for clause in part
            ]
        return self._grouped(clauses, first)

    def _grouped(self, clauses: list[Clause], first: int) -> Group:
        """A group without its stop words, unless it has nothing else to find."""
        wanted = [clause for clause in clauses if clause.sign != "-"]
        if clauses and not wanted:
            raise self._error("only what to leave out; add what to find", first)
        words = [clause for clause in wanted if not isinstance(clause.node, Filter)]
        stop = [clause for clause in words if self._is_stop_word(clause.node)]
        return Group(tuple(clause for clause in clauses if clause not in stop or len(stop) == len(words)))

    def _is_stop_word(self, node: Node) -> bool:
        return isinstance(node, Phrase) and not node.quoted and self.analyser.term(node.words[0])[1]

    def _ends(self) -> bool:
        """Whether the group ends here, after blanks."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at == len(self.text) or self.text[self.at] == ")"

    def _joined(self, word: str, sign: str, read: Callable[[], list[Clause]]) -> list[Clause]:
        """What `read` reads, or several of these with a word between them, as a group."""
        first, clauses, parts = self.at, read(), 1
        while self._takes(word):
            if self._ends():
                raise self._error(f"{word} needs something after it")
            clauses, parts = clauses + read(), parts + 1
        if parts == 1 or not clauses:
            return clauses
        if word == "OR" and any(clause.sign for clause in clauses):
            raise self._error("+ and - cannot stand next to OR; write +(a OR b), or (+a -b) OR c", first)
        joined = [replace(clause, sign=clause.sign or sign) for clause in clauses]
        return [Clause("", self._grouped(joined, first))]

    def _takes(self, word: str) -> bool:
        """Whether this word comes next; then go past it."""
        match = None if self._ends() else _JOINING.match(self.text, self.at)
        if match is None or match[0] != word:
            return False
        self.at += len(word)
        return True

    def _unit(self, field: str | None, depth: int) -> list[Clause]:
        """A word, phrase, prefix, fuzzy word, filter or bracket with sign and weight; a piece may be several words."""
        first, sign = self.at, ""
        if self._takes("OR") or self._takes("AND"):
            raise self._error("OR and AND stand between two things", first)
        if self._takes("NOT"):
            sign = "-"
            self._ends()
        elif self.text[self.at] in "+-":
            sign = self.text[self.at]
            self.at += 1
        if self.at == len(self.text) or self.text[self.at].isspace() or self.text[self.at] in "+-)":
            raise self._error(f"{self.text[first : self.at].strip()} needs a word right after it", first)
        marked, nodes = self.at > first, self._nodes(field, depth, phrase=self.at > first)
        weight = self._weight()
        if not nodes and (marked or weight != 1.0):
            raise self._error("a word is missing", first)
        if sign == "-" and weight != 1.0:
            raise self._error("what is left out has no weight", first)
        return [Clause(sign, node, weight) for node in nodes]

    def _weight(self) -> float:
        mark = _WEIGHT.match(self.text, self.at)
        if mark is None:
            return 1.0
        try:
            weight = float(mark[1])
        except ValueError:
            weight = 0.0
        if not 1 / MOST <= weight <= MOST:  # NaN is not
            raise self._error(f"a weight is a number from {1 / MOST:g} to {MOST:g}; got {mark[1][:40]!r}")
        self.at = mark.end()
        return weight

    def _nodes(self, field: str | None, depth: int, *, phrase: bool) -> list[Node]:
        """What stands here; the words of a piece are separate, or a phrase if it is marked."""
        if self.text[self.at] == "(":
            return [self._bracket(field, depth)]
        condition = _FILTER.match(self.text, self.at)
        if condition is not None:
            self._counted(1)
            return [self._filter(condition[0])]
        named = _FIELD.match(self.text, self.at)
        if named is not None:
            field, phrase = self._field(named[0][:-1]), True
            self.at = named.end()
            if self._ends() or self.text[self.at - 1].isspace():
                raise self._error(f"{field}: needs a word right after it", named.start())
            if self.text[self.at] == "(":
                return [self._bracket(field, depth)]
        if self.text[self.at] == '"':
            return [self._quoted(field)]
        return self._piece(field, phrase=phrase)

    def _filter(self, text: str) -> Filter:
        try:
            condition = read_condition(text)
        except ParameterError as error:
            raise self._error(str(error).removesuffix(".")) from None
        self.at += len(text)
        return Filter(condition)

    def _bracket(self, field: str | None, depth: int) -> Group:
        first = self.at
        self.at += 1
        group = self._group(field, depth=depth + 1)
        if self.at == len(self.text):
            raise self._error("this bracket is not closed", first)
        if not group.clauses:
            raise self._error("nothing is in these brackets", first)
        self.at += 1
        return group

    def _field(self, name: str) -> str:
        if name not in self.fields:
            raise self._error(
                f"no field {name[:40]!r} is searched, only {', '.join(self.fields)}; put a text with : in quotes"
            )
        return name

    def _quoted(self, field: str | None) -> Phrase:
        first, end = self.at, self.text.find('"', self.at + 1)
        if end < 0:
            raise self._error("this quote is not closed", first)
        words = self.analyser.words(self.text[first + 1 : end])
        self.at = end + 1
        if not words or len(words) > MOST_WORDS:
            raise self._error(f"a phrase has 1 to {MOST_WORDS} words; got {len(words)}", first)
        near = _NEAR.match(self.text, self.at)
        if near is not None:
            if not near[1] or len(near[1]) > 9 or int(near[1]) > MOST_NEAR:
                raise self._error(f'expected "words"~n with n from 0 to {MOST_NEAR}')
            self.at = near.end()
        self._counted(1)
        return Phrase(tuple(words), 0 if near is None else int(near[1]), field)

    def _piece(self, field: str | None, *, phrase: bool) -> list[Node]:
        """A word, a prefix or a fuzzy word."""
        first, piece = self.at, _PIECE.match(self.text, self.at)
        if piece is None:
            raise self._error(f"a word should come before {self.text[self.at]}")
        self.at, words = piece.end(), self.analyser.words(piece[0])
        typos, star = _NEAR.match(self.text, self.at), self.text.startswith("*", self.at)
        if typos is not None or star:
            return [self._open(words, "" if typos is None else typos[1], star=star, field=field, first=first)]
        self._counted(len(words))
        if phrase and len(words) > 1:
            return [Phrase(tuple(words), 0, field)]
        return [Phrase((word,), 0, field, quoted=False) for word in words]

    def _open(self, words: list[str], typos: str, *, star: bool, field: str | None, first: int) -> Prefix | Fuzzy:
        """A prefix or a fuzzy word."""
        self.searches += 1
        if self.searches > MOST_OPEN:
            raise self._error(f"a query has at most {MOST_OPEN} words with * or ~", first)
        self.at += 1 if star else 1 + len(typos)
        if len(words) != 1:
            raise self._error("* and ~ stand right after one word; got several or none", first)
        if self.at < len(self.text) and self.text[self.at] not in " \t\n\r)^":
            raise self._error("* and ~ stand at the end of a word, e.g. transf* or transfre~2")
        self._counted(1)
        if star:
            return Prefix(words[0], field)
        if typos not in ("", "1", "2"):
            raise self._error(f"a word has up to {MOST_TYPOS} typos: word~1 or word~2", first)
        return Fuzzy(words[0], int(typos or 1), field)

    def _counted(self, clauses: int) -> None:
        self.count += clauses
        if self.count > MOST_CLAUSES:
            raise self._error(f"a query has at most {MOST_CLAUSES} words, phrases and filters")
