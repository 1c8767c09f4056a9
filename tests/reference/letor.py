"""A LETOR reader, slow and obvious: the rules of the format, one after the other. Anything wrong is a ValueError."""

import math
import re
from dataclasses import dataclass

import numpy as np

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass
class Line:
    label: float
    qid: str | None
    features: dict[int, np.float32]
    comment: str


def read(text: bytes) -> list[Line]:
    found = []
    for raw in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        body, _, comment = raw.decode("utf-8", "surrogateescape").partition("#")
        words = re.split(r"[ \t\r\v\f]+", body.strip(" \t\r\v\f"))
        if words == [""]:
            continue
        word = words.pop(0)
        label = math.nan if word.lower() == "nan" else number(word)  # not judged
        if math.isinf(label):
            raise ValueError("label")
        qid = words.pop(0)[4:] if words and words[0].startswith("qid:") else None
        if qid == "":
            raise ValueError("qid")
        features: dict[int, np.float32] = {}
        for word in words:
            left, colon, right = word.partition(":")
            if not colon or not re.fullmatch("[0-9]+", left) or not 1 <= int(left) <= 2**20 or int(left) in features:
                raise ValueError(word)
            with np.errstate(over="ignore"):
                value = np.float32(math.nan if right.lower() in ("nan", "null") else number(right))
            if np.isinf(value):
                raise ValueError(word)
            features[int(left)] = value
        found.append(Line(label, qid, features, comment.removesuffix("\r")))
    if not found:
        raise ValueError("empty")
    if len({line.qid is None for line in found}) > 1:
        raise ValueError("some have a qid")
    return found


def number(word: str) -> float:
    if not NUMBER.fullmatch(word):
        raise ValueError(word)
    return float(word)
