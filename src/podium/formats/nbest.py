"""N-best lists of translations, as Moses and other decoders write them: a query per sentence, a row per translation.

    >>> import io
    >>> text = b"0 ||| a house ||| LM0= -4.5 TM0= -1 -2 ||| -3.2\\n0 ||| the home ||| LM0= -5 TM0= -1 -3 ||| -4\\n"
    >>> data = read_nbest(io.BytesIO(text), ranks=[2, 1])
    >>> data.feature_names, data.labels.tolist(), data.comments.tolist()
    (('LM0', 'TM0.1', 'TM0.2', 'score'), [0.0, 1.0], ['a house', 'the home'])

A line is `sentence ||| translation ||| name= value … ||| score`; anything after the score (alignments) is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.bleu import sentence_bleu

SCORE = "score"
"""Name of the feature that holds the decoder's total score."""


class _Line(NamedTuple):
    number: int
    sentence: str
    text: str
    values: dict[str, list[float]]
    score: float


def read_nbest(source: Source, *, references: Sequence[Source] | None = None, ranks: ArrayLike | None = None) -> Table:
    """Read the translations from a path, "-" or a binary file, gzipped or not.

    Features have the decoder's names; several values of one are numbered (TM0.1, TM0.2). A feature that a line does not
    name is 0 there, since decoders leave out zeros. The last feature is the decoder's total. Documents
    are numbered from 1 within their sentence; their text is in `comments`.

    Labels come from `references`, files whose line number, from 0, is the sentence: the smoothed BLEU of each
    translation. Or from `ranks`, a number per line, 1 for the best: the label is the largest rank of the sentence less
    the rank. With neither there are no labels.
    """
    name = source_name(source)
    if references is not None and ranks is not None:
        raise DataError("labels come from references or from ranks; got both.", where=name)
    lines = _read(source, name)
    names = _columns(lines, name)
    X = np.zeros((len(lines), sum(names.values()) + 1), np.float32)
    first = dict(zip(names, np.cumsum([0, *names.values()]).tolist(), strict=False))
    for row, line in enumerate(lines):
        for key, values in line.values.items():
            X[row, first[key] : first[key] + len(values)] = values
        X[row, -1] = line.score
    sentences = np.array([line.sentence for line in lines], object)
    labels = None
    if references is not None:
        labels = _bleu(lines, references, name)
    elif ranks is not None:
        labels = _from_ranks(np.asarray(ranks, np.float64), sentences, name)
    return Dataset.from_arrays(
        X, labels, qid=sentences, document_ids=_numbered(sentences), comments=[line.text for line in lines],
        feature_names=[*(name for key, n in names.items() for name in _numbered_names(key, n)), SCORE], source=name,
    )  # fmt: skip


def _read(source: Source, name: str) -> list[_Line]:
    lines: list[_Line] = []
    seen: set[str] = set()
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            where = f"{name}:{number}"
            text = _text(raw, where).strip("\r\n")
            if not text.strip():
                continue
            line = _line(text, number, where)
            if line.sentence in seen and lines[-1].sentence != line.sentence:
                raise DataError(
                    f"sentence {line.sentence} was there before; the translations of a sentence must follow each "
                    "other. Sort the file by sentence.",
                    where=where,
                )
            seen.add(line.sentence)
            lines.append(line)
    if not lines:
        raise DataError("no translations: the file is empty.", where=name)
    return lines


def _text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("not UTF-8. Convert the file, for example with iconv.", where=where) from None


def _line(text: str, number: int, where: str) -> _Line:
    parts = [part.strip() for part in text.split("|||")]
    if len(parts) < 4:
        raise DataError(
            f"expected sentence ||| translation ||| name= value … ||| score; got {len(parts)} of these 4 parts.",
            where=where,
        )
    sentence, translation, features, score = parts[:4]
    if not sentence:
        raise DataError("no number of the sentence before the first |||.", where=where)
    values: dict[str, list[float]] = {}
    current: list[float] | None = None
    for word in features.split():
        if word[-1] in "=:":  # older decoders write name:
            if word[:-1] in (*values, SCORE):
                raise DataError(f"feature {word[:-1]} is there twice.", where=where)
            if len(word) == 1:
                raise DataError(f"expected the name of a feature before {word!r}.", where=where)
            current = values[word[:-1]] = []
        elif current is None:
            raise DataError(f"expected the name of a feature, such as LM0=, before {word!r}.", where=where)
        else:
            current.append(_number(word, where))
    empty = next((key for key, numbers in values.items() if not numbers), None)
    if empty is not None:
        raise DataError(f"feature {empty} has no value.", where=where)
    return _Line(number, sentence, translation, values, _number(score, where))


def _number(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"expected a finite number, got {word[:40]!r}.", where=where)
    return value


def _columns(lines: Sequence[_Line], name: str) -> dict[str, int]:
    """The number of values of each feature, in order of first appearance."""
    sizes: dict[str, int] = {}
    for line in lines:
        for key, values in line.values.items():
            if sizes.setdefault(key, len(values)) != len(values):
                raise DataError(
                    f"feature {key} has {len(values)} values here and {sizes[key]} before.",
                    where=f"{name}:{line.number}",
                )
    return sizes


def _numbered_names(key: str, n: int) -> list[str]:
    return [key] if n == 1 else [f"{key}.{k + 1}" for k in range(n)]


def _numbered(sentences: NDArray[np.object_]) -> list[str]:
    """The number of each translation in its list, from 1."""
    numbers: list[str] = []
    for k, sentence in enumerate(sentences):
        numbers.append("1" if not k or sentence != sentences[k - 1] else str(int(numbers[-1]) + 1))
    return numbers


def read_references(files: Sequence[Source]) -> list[list[str]]:
    """Read the references of each sentence from files with a line per sentence."""
    if not files:
        raise DataError("expected at least one file of references.")
    columns = []
    for source in files:
        with reading(source) as file:
            columns.append(_text(file.read(), source_name(source)).splitlines())
        if len(columns[-1]) != len(columns[0]):
            raise DataError(
                f"{len(columns[-1])} lines, but {source_name(files[0])} has {len(columns[0])}.",
                where=source_name(source),
            )
    return [list(texts) for texts in zip(*columns, strict=True)]


def _bleu(lines: Sequence[_Line], files: Sequence[Source], name: str) -> Array:
    references = read_references(files)
    labels = np.empty(len(lines))
    for row, line in enumerate(lines):
        where = f"{name}:{line.number}"
        if not (line.sentence.isascii() and line.sentence.isdigit()):
            raise DataError(f"with references a sentence is a line number from 0; got {line.sentence!r}.", where=where)
        if int(line.sentence) >= len(references):
            raise DataError(
                f"sentence {line.sentence} has no reference: {source_name(files[0])} has {len(references)} lines, "
                "the first for sentence 0.",
                where=where,
            )
        labels[row] = sentence_bleu(line.text, references[int(line.sentence)])
    return labels


def _from_ranks(ranks: Array, sentences: NDArray[np.object_], name: str) -> Array:
    if ranks.shape != sentences.shape or not np.isfinite(ranks).all():
        raise DataError(
            f"{len(sentences)} translations need as many ranks, all finite; got shape {ranks.shape}.", where=name
        )
    _, codes = np.unique(sentences.astype(str), return_inverse=True)
    last = np.full(codes.max() + 1, -np.inf)
    np.maximum.at(last, codes, ranks)
    return np.asarray(last[codes] - ranks)
