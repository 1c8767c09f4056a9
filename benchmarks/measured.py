"""The line that says when, how and where the figures of a page were measured."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from benchmarks.page import processor


def measured(command: str) -> str:
    """Date, command, CPU time of this process and those that it started, and the processor."""
    minutes = sum(os.times()[:4]) / 60
    took = f"{minutes:.0f} CPU minutes" if minutes >= 1 else "under a CPU minute"
    return f"Measured on {datetime.now(UTC):%Y-%m-%d} by `{command}`: {took} on {processor()}."
