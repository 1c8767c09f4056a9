"""Elasticsearch's linear retriever: a search whose retrievers have learned weights and normalizers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from podium.base.errors import ModelFileError
from podium.base.registry import param, register
from podium.export.base import dumps, single
from podium.export.hybrid.hybrid_form import Fusion, HybridTarget
from podium.imports.foreign_file import at, json_object, number
from podium.transforms import HybridScores

_NORMALIZERS: dict[Literal["minmax", "l2"], str] = {"minmax": "minmax", "l2": "l2_norm"}


@register
class ElasticsearchLinear(HybridTarget):
    """Elasticsearch 8.18 on: the weighted sum of normalised scores, in float32.

    The file has the names of the first stages in place of the retrievers: put your own there.
    """

    window: int = param(default=100, least=1)
    """Documents of each retriever that are fused."""
    name = "elasticsearch-linear"
    engine = "elasticsearch"
    mean = False

    def write_weights(self, fusion: Fusion, names: tuple[str, ...]) -> bytes:
        normalizer = _NORMALIZERS[fusion.scaling.how]
        retrievers = [
            {"retriever": name, "weight": single(weight), "normalizer": normalizer}
            for name, weight in zip(names, fusion.weights, strict=True)
        ]
        linear = {"retrievers": retrievers, "rank_window_size": self.window}
        return dumps({"retriever": {"linear": linear}}, indent=1).encode() + b"\n"

    def read(self, raw: bytes, names: tuple[str, ...]) -> Fusion:
        retrievers = at(json_object(raw), "retriever", "linear", "retrievers", kind=list)
        kinds = {at(each, "normalizer", kind=str) for each in retrievers}
        if len(retrievers) != len(names) or len(kinds) != 1:
            raise ModelFileError(f"{len(names)} retrievers with one normalizer are expected.")
        [how] = [how for how, word in _NORMALIZERS.items() if word in kinds]
        weights = [number(at(each, "weight", kind=(int, float)), "weight") for each in retrievers]
        return Fusion(np.array(weights), HybridScores(engine="elasticsearch", how=how), self.mean)
