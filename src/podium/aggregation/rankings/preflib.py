"""Reader of PrefLib files: .soc, .soi, .toc and .toi (preflib.org); complete or incomplete orders, strict or tied.

    >>> import io
    >>> votes = read_preflib(io.BytesIO(b"# ALTERNATIVE NAME 1: Ann\\n# ALTERNATIVE NAME 2: Bob\\n2: {1,2}\\n1: 2\\n"))
    >>> votes.query(0).document_ids.tolist(), votes.query(0).matrix().tolist(), votes.weights.tolist()
    (['Ann', 'Bob'], [[1.0, 1.0], [nan, 1.0]], [2.0, 1.0])

A file is one query. A line `count: order` is one voter whose weight is the count.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath

from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name


def read_preflib(source: Source) -> Rankings:
    """Read the votes of a PrefLib file, from a path, "-" or a binary file, gzipped or not."""
    name = source_name(source)
    header: dict[str, str] = {}
    votes: list[tuple[int, float, list[list[int]]]] = []  # line, count, groups
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            line = raw.decode("utf-8", "replace").strip().lstrip("\ufeff")
            if line.startswith("#"):
                key, _, value = line[1:].partition(":")
                header[key.strip().upper()] = value.strip()
            elif line:
                votes.append((number, *_vote(line, f"{name}:{number}")))
    if not votes:
        raise DataError("no votes: expected lines like 3: 1,2,{4,5}.", where=name)
    _check(header, votes, name)
    names = _names(header, votes, name)
    rows = [
        (str(v + 1), names[alternative], rank)
        for v, (_, _, groups) in enumerate(votes)
        for rank, group in enumerate(groups, 1)
        for alternative in group
    ]
    voters, documents, ranks = zip(*rows, strict=True)
    return Rankings.from_entries(
        [PurePath(header.get("FILE NAME") or name).stem] * len(rows),
        voters,
        documents,
        ranks=ranks,
        weights=[count for _, count, _ in votes],
        sources=[f"{name}:{line}" for line, _, _ in votes],
    )


_WHOLE = re.compile(r"\s*\d{1,18}\s*", re.ASCII)
_GROUPS = re.compile(r"\{([^{}]*+)\}|([^,{}\s][^,{}]*+)")
_GROUP = r"\s*+(?:\{[^{}]*+\}\s*+|[^,{}\s][^,{}]*+)"
_VOTE = re.compile(rf"{_GROUP}(?:,{_GROUP})*")


def _vote(line: str, where: str) -> tuple[float, list[list[int]]]:
    """The count of a vote and its groups of tied alternatives."""
    count, colon, orders = line.partition(":")
    if not colon or not _WHOLE.fullmatch(count) or int(count) < 1:
        raise DataError(f"expected a vote like 3: 1,2,{{4,5}}; got {line[:60]!r}.", where=where)
    if not orders.strip():
        raise DataError("an empty ranking: nothing stands after the count. Remove the line.", where=where)
    if not _VOTE.fullmatch(orders):
        raise DataError(f"cannot read the order {orders.strip()[:60]!r}: check its commas and braces.", where=where)
    groups: list[list[int]] = []
    seen: set[int] = set()
    for tied, single in _GROUPS.findall(orders):
        words = (single or tied).split(",")
        if not all(_WHOLE.fullmatch(word) for word in words):
            raise DataError(f"alternatives are numbers; got {(single or tied).strip()[:60]!r}.", where=where)
        groups.append([int(word) for word in words])
        for alternative in groups[-1]:
            if alternative in seen:
                raise DataError(f"alternative {alternative} stands twice in one ranking. Keep one.", where=where)
            seen.add(alternative)
    return float(count), groups


def _check(header: dict[str, str], votes: list[tuple[int, float, list[list[int]]]], name: str) -> None:
    """Raise a clear error if the votes are not what the head of the file promises."""
    kind = header.get("DATA TYPE") or PurePath(name).suffix[1:]
    n = header.get("NUMBER ALTERNATIVES", "")
    for line, _, groups in votes:
        ranked = sum(map(len, groups))
        if kind in ("soc", "toc") and _WHOLE.fullmatch(n) and ranked != int(n):
            raise DataError(f"a {kind} file ranks all {n} alternatives; got {ranked}.", where=f"{name}:{line}")
        if kind in ("soc", "soi") and ranked != len(groups):
            raise DataError(f"a {kind} file has no ties; got some.", where=f"{name}:{line}")
    promised, total = header.get("NUMBER VOTERS", ""), sum(count for _, count, _ in votes)
    if _WHOLE.fullmatch(promised) and int(promised) != total:
        raise DataError(f"the head promises {promised} voters, but the votes add up to {total:.0f}.", where=name)


def _names(header: dict[str, str], votes: list[tuple[int, float, list[list[int]]]], name: str) -> dict[int, str]:
    """The names of the alternatives; their numbers if the file has no names, or in addition if two share a name."""
    prefix = "ALTERNATIVE NAME "
    numbers = {key: key[len(prefix) :] for key in header if key.startswith(prefix)}
    for key, number in numbers.items():
        if not _WHOLE.fullmatch(number):
            raise DataError(f"expected '# {prefix}number: name'; got '# {key[:60]}'.", where=name)
    named = {int(number): header[key] for key, number in numbers.items()}
    shared = {text for text, times in Counter(named.values()).items() if times > 1}
    names = {k: f"{text} {k}" if text in shared else text for k, text in named.items()}
    for line, _, groups in votes:
        for alternative in (a for group in groups for a in group):
            if named and alternative not in named:
                raise DataError(f"alternative {alternative} has no name in the head.", where=f"{name}:{line}")
            names.setdefault(alternative, str(alternative))
    return names
