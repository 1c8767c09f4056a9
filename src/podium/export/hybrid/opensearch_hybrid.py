"""OpenSearch hybrid search: the body of `PUT /_search/pipeline/NAME`, a normalization processor with weights."""

from __future__ import annotations

from typing import Literal

import numpy as np

from podium.base.errors import ModelFileError
from podium.base.registry import register
from podium.export.base import dumps, single
from podium.export.hybrid.hybrid_form import Fusion, HybridTarget
from podium.imports.foreign_file import at, json_object, numbers
from podium.transforms import HybridScores

_TECHNIQUES: dict[Literal["minmax", "l2"], str] = {"minmax": "min_max", "l2": "l2"}


@register
class OpenSearchHybrid(HybridTarget):
    """OpenSearch 2.10 on: the weighted mean of normalised scores, in float32, for a `hybrid` query.

    The order of the weights is that of its queries.
    """

    name = "opensearch-hybrid"
    engine = "opensearch"
    mean = True
    replay = "podium push FILE --to opensearch-hybrid --url HOST"

    def write_weights(self, fusion: Fusion, names: tuple[str, ...]) -> bytes:
        weights = [single(weight) for weight in fusion.weights]
        processor = {
            "normalization": {"technique": _TECHNIQUES[fusion.scaling.how]},
            "combination": {"technique": "arithmetic_mean", "parameters": {"weights": weights}},
        }
        about = f"Weights of the queries of a hybrid query, in this order: {', '.join(names)}"
        body = {"description": about, "phase_results_processors": [{"normalization-processor": processor}]}
        return dumps(body, indent=1).encode() + b"\n"

    def read(self, raw: bytes, names: tuple[str, ...]) -> Fusion:
        [processor] = at(json_object(raw), "phase_results_processors", kind=list)
        inside = at(processor, "normalization-processor")
        if at(inside, "combination", "technique", kind=str) != "arithmetic_mean":
            raise ModelFileError("The combination must be arithmetic_mean.")
        how = {word: how for how, word in _TECHNIQUES.items()}[at(inside, "normalization", "technique", kind=str)]
        weights = numbers(at(inside, "combination", "parameters", "weights", kind=list), "weights", length=len(names))
        return Fusion(np.array(weights), HybridScores(engine="opensearch", how=how), self.mean)
