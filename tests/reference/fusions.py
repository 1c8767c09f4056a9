"""Hybrid searches of engines, one score at a time, in the float32 numbers that their code uses; slow and obvious."""

import json
import math
from functools import reduce

import numpy as np

F = np.float32
LEAST = F(1.4e-45)  # Java's Float.MIN_VALUE


def opensearch(raw, stages):
    """Scores of documents; a stage is {document: score}, and what it did not return counts 0."""
    [processor] = json.loads(raw)["phase_results_processors"]
    inside = processor["normalization-processor"]
    weights = [F(weight) for weight in inside["combination"]["parameters"]["weights"]]
    assert abs(sum(map(float, weights)) - 1) < 0.01, "OpenSearch refuses others"
    normalised = [_opensearch_stage(stage, inside["normalization"]["technique"]) for stage in stages]
    scores = {}
    for document in {document for stage in stages for document in stage}:
        total, weight_sum = F(0), F(0)
        for stage, weight in zip(normalised, weights, strict=True):
            total = F(total + F(stage.get(document, F(0)) * weight))
            weight_sum = F(weight_sum + weight)
        scores[document] = float(F(total / weight_sum))
    return scores


def _opensearch_stage(stage, technique):
    values = {document: F(score) for document, score in stage.items()}
    if technique == "l2":
        best_first = sorted(values.values(), reverse=True)
        norm = F(math.sqrt(reduce(lambda total, x: F(total + F(x * x)), best_first, F(0))))
        return {document: F(0) if norm == 0 else F(x / norm) for document, x in values.items()}
    low, high = min(values.values(), default=F(0)), max([LEAST, *values.values()])
    scaled = {}
    for document, x in values.items():
        if high == low == x:
            scaled[document] = F(1)
        else:
            ratio = F(F(x - low) / F(high - low))
            scaled[document] = F(0.001) if ratio == 0 else ratio
    return scaled


def elasticsearch(raw, stages):
    """The linear retriever."""
    retrievers = json.loads(raw)["retriever"]["linear"]["retrievers"]
    scores = {}
    for stage, retriever in zip(stages, retrievers, strict=True):
        for document, x in _elasticsearch_stage(stage, retriever["normalizer"]).items():
            scores[document] = F(scores.get(document, F(0)) + F(F(retriever["weight"]) * x))
    return {document: float(score) for document, score in scores.items()}


def _elasticsearch_stage(stage, normalizer):
    values = {document: F(score) for document, score in stage.items()}
    if normalizer == "l2_norm":
        norm = math.sqrt(sum(float(F(x * x)) for x in sorted(values.values(), reverse=True)))
        return values if norm < 1e-6 else {document: F(float(x) / norm) for document, x in values.items()}
    low, high = min(values.values(), default=F(0)), max([LEAST, *values.values()])
    return {document: low if low == high else F(F(x - low) / F(high - low)) for document, x in values.items()}


FUSIONS = {"opensearch-hybrid": opensearch, "elasticsearch-linear": elasticsearch}
