"""Provenance of a result: time, memory, date, machine, and versions of the packages.

>>> with timed() as facts:
...     total = sum(range(1000))
>>> sorted(facts)
['cpu_seconds', 'environment', 'peak_memory', 'seconds', 'started', 'threads']
"""

from __future__ import annotations

import functools
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from podium.base.threads import default_threads
from podium.base.version import version

PACKAGES = ("numpy", "scipy", "numba", "lightgbm", "clarabel")


@contextmanager
def timed() -> Iterator[dict[str, Any]]:
    """Measure a block: fills a dictionary with seconds, memory in bytes, start, and environment when the block ends."""
    facts: dict[str, Any] = {"started": datetime.now(UTC).isoformat(timespec="seconds")}
    _forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    yield facts
    facts["seconds"] = time.perf_counter() - wall
    facts["cpu_seconds"] = time.process_time() - cpu  # of all threads
    facts["peak_memory"] = _peak_memory()
    facts["threads"] = default_threads()
    facts["environment"] = environment()


@functools.cache
def environment() -> dict[str, str]:
    """Versions of podium and of the packages that compute, and the machine."""
    return {
        "podium": version(),
        "python": platform.python_version(),
        **{name: installed(name) for name in PACKAGES},
        "platform": platform.platform(),
        "cpu": _cpu(),
    }


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _forget_peak() -> None:
    """Reset the peak memory of the process on Linux; elsewhere it is that of the whole process."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> int | None:
    """Largest memory of the process so far, in bytes; None if the system does not tell (Windows)."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
