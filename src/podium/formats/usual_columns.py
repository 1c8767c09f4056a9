"""Columns of judgments and runs, guessed by the names that tools and users give them.

    >>> usual_columns(["Query Text", "Doc ID", "Rating"], ("query", "document", "grade"))
    {'query': 'Query Text', 'document': 'Doc ID', 'grade': 'Rating'}

Case, blanks, hyphens and underscores do not matter. Names are listed in groups: the first group with a column in the
table decides, and two columns of one group are an error. So an id comes before a text, and PyTerrier's docno before its
internal docid.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from podium.base.errors import DataError

USUAL: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (
        ("query_id", "qid", "topic_id"),
        ("query", "query_text", "topic", "search_query", "search_term", "search_text", "user_query", "keyword"),
    ),
    "document": (
        ("docno",),
        ("document", "document_id", "doc_id", "doc", "corpus_id", "product_id", "pid", "sku", "asin", "item_id",
         "passage_id"),
        ("id", "url", "uri", "item", "product"),
    ),
    "grade": (
        ("grade", "rating", "relevance", "label", "rel", "judgment", "judgement", "relevance_label", "relevance_grade",
         "gain"),
        ("score", "value"),
    ),
    "topic": (
        ("subtopic", "subtopic_id", "intent", "intent_id", "aspect", "facet"),
        ("iteration",),
        ("topic", "topic_id"),
    ),
    "judge": (
        ("judge", "rater", "annotator", "worker", "assessor", "judge_id", "rater_id", "annotator_id", "worker_id"),
        ("user", "user_id", "user_email", "email"),
    ),
    "score": (("score",), ("similarity", "sim")),
    "rank": (("rank",), ("position", "doc_position")),
    "a": (("a", "model_a", "player_a", "team_a", "system_a", "left", "model_1", "player_1", "white", "home_team"),),
    "b": (("b", "model_b", "player_b", "team_b", "system_b", "right", "model_2", "player_2", "black", "away_team"),),
    "winner": (("winner", "winner_model", "outcome", "result", "preference", "verdict", "vote"),),
    "battle": (("battle", "battle_id", "match", "match_id", "game", "game_id", "race", "question_id"),),
    "player": (("player", "model", "system", "player_id", "model_name", "driver", "competitor"),),
    "group": (("group", "task"),),
    "weight": (("weight",),),
}  # fmt: skip
"""Names of the column of each role, in groups, those to prefer first."""


def usual_columns(
    columns: Sequence[str],
    roles: Sequence[str],
    *,
    asked: Mapping[str, str | None] | None = None,
    optional: Collection[str] = (),
    source: str | None = None,
) -> dict[str, str]:
    """The column of each role: that which is `asked` for, or the one with a usual name."""
    chosen: dict[str, str] = {}
    for role in roles:
        name = (asked or {}).get(role)
        if name is not None:
            if name not in columns:
                raise DataError(f"no column {name!r} for the {role}; {_there(columns)}.", where=source)
            chosen[role] = name
            continue
        near = _of_first_group(columns, role)
        if len(near) > 1:
            raise DataError(
                f"more than one column for the {role}: {', '.join(near)}; {_there(columns)}. "
                f"{_say_which(role, near[0])}",
                where=source,
            )
        if near:
            chosen[role] = near[0]
        elif role not in optional:
            raise DataError(
                f"no column {role!r}; expected {', '.join(roles[:-1])} and {roles[-1]}, or usual names of these; "
                f"{_there(columns)}. {_say_which(role, 'NAME')}",
                where=source,
            )
    return chosen


def is_usual(columns: Sequence[str]) -> bool:
    """Whether these are names of columns of judgments or of a run: three at least, one of queries or of documents."""
    return len(columns) > 2 and any(_of_first_group(columns, role) for role in ("query", "document"))


def said(chosen: Mapping[str, str], asked: Mapping[str, str | None] | None = None) -> str:
    """The chosen columns as a sentence; empty if each was asked for, or is called as its role is."""
    if all(name in (role, (asked or {}).get(role)) for role, name in chosen.items()):
        return ""
    return ", ".join(f"{role} = {name}" for role, name in chosen.items())


def _of_first_group(columns: Sequence[str], role: str) -> list[str]:
    squeezed = {column: _squeezed(column) for column in columns}
    for group in USUAL[role]:
        names = set(map(_squeezed, group))
        near = [column for column, name in squeezed.items() if name in names]
        if near:
            return near
    return []


def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _there(columns: Sequence[str]) -> str:
    shown = ", ".join(map(repr, columns[:12])) or "none"
    return f"the columns are {shown}{' …' if len(columns) > 12 else ''}"


_OPTIONS = ("query", "document", "grade", "judge", "a", "b", "winner", "battle", "player", "group", "weight")


def _say_which(role: str, name: str) -> str:
    option = f" (--{role} {name!r} on the command line)" if role in _OPTIONS else ""
    return f"Say which it is: {role}={name!r}{option}."
