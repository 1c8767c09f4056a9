"""First use: CPU seconds of the first training on a little data, nothing compiled yet, beside the second process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

from benchmarks.command_line import process
from benchmarks.contest import Contest
from podium.methods import METHODS

CODE = """
import podium
data, _ = podium.make_letor_like(30, seed=1)
train, valid, _ = podium.split(data)
podium.train(train, {method!r}, valid=valid)
"""


def contests(*, quick: bool) -> Iterator[Contest]:
    import sys

    for method in ["lambdamart", "ranknet"] if quick else METHODS:
        code = CODE.format(method=method)

        def cold(code: str = code) -> dict[str, float]:
            with tempfile.TemporaryDirectory() as folder:
                known = os.environ.get("NUMBA_CACHE_DIR")
                os.environ["NUMBA_CACHE_DIR"] = folder
                try:
                    return process(sys.executable, "-c", code)
                finally:
                    os.environ.pop("NUMBA_CACHE_DIR")
                    if known is not None:
                        os.environ["NUMBA_CACHE_DIR"] = known

        yield Contest(
            f"first training of {method}, nothing compiled",
            cold,
            {"the same, all compiled": lambda code=code: process(sys.executable, "-c", code)},
            goal="≤ 5 s",
            most_seconds=5.0,
            repeats=1,
            warm_up=False,
        )
