"""Monitoring: counts and times of requests for Prometheus.

Workers share them in the folder PROMETHEUS_MULTIPROC_DIR, so that each can report the sum of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
CONTENT_TYPE = "text/plain; version=0.0.4"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Monitor:
    """Prometheus time series of the service."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # workers cannot share when each series began
        self._registry = to = CollectorRegistry()
        self.requests = Counter(
            "podium_requests_total", "Requests, by route and status.", ["route", "status"], registry=to
        )
        self.request_seconds = Histogram(
            "podium_request_seconds", "Time from the head of a request to its answer.", ["route"],
            buckets=_BUCKETS, registry=to,
        )  # fmt: skip
        self.score_seconds = Histogram(
            "podium_score_seconds", "Time to score and order the documents of a query.", ["model"],
            buckets=_BUCKETS, registry=to,
        )  # fmt: skip
        self.feedback = Counter(
            "podium_feedback_total", "Events of feedback, by what became of them.", ["what"], registry=to
        )
        self.experiments = Counter(
            "podium_experiment_total", "Requests in experiments: answered, or failed and answered by the control.",
            ["experiment", "what"], registry=to,
        )  # fmt: skip
        self.shadow_dropped = Counter(
            "podium_shadow_dropped_total", "Requests that a shadow did not score, since too many waited.",
            ["experiment"], registry=to,
        )  # fmt: skip

    def count_trial(self, what: str, experiment: str) -> None:
        """Count a request of an experiment: answered, failed, or dropped by a shadow."""
        if what == "dropped":
            self.shadow_dropped.labels(experiment).inc()
        else:
            self.experiments.labels(experiment, what).inc()

    def text(self, *, in_work: int, feedback_queue: int | None, models: Iterable[str]) -> bytes:
        """All series in Prometheus' text format: sums over the workers, and current gauges of this worker."""
        counts = self._registry
        if os.environ.get(FOLDER):
            counts = CollectorRegistry()
            MultiProcessCollector(counts)  # type: ignore[no-untyped-call]
        gauges = _Gauges(
            _gauge("podium_requests_in_work", "Requests that are being answered.", {(): in_work}),
            _gauge("podium_model_info", "Models in the model store; 1.", {(model,): 1 for model in models}, "model"),
        )
        if feedback_queue is not None:
            gauges.families.append(
                _gauge("podium_feedback_queue", "Events that wait to be written.", {(): feedback_queue})
            )
        return generate_latest(counts) + generate_latest(gauges)


class _Gauges(Collector):
    """Gauges as a collector of prometheus_client."""

    def __init__(self, *families: GaugeMetricFamily) -> None:
        self.families = list(families)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self.families


def _gauge(name: str, words: str, values: Mapping[tuple[str, ...], float], *labels: str) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family
