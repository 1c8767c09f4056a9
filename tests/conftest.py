"""What the whole suite shares: random examples that are the same in every run and on every machine.

To look for new ones: python -m pytest --hypothesis-profile default

With PODIUM_KERNELS=FOLDER, the names of all compiled functions that were used are written there: see .ci/kernels.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.jit import tiers
from podium.jit.compiled import Deferred, counting_compilations

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
COMPILED = pytest.StashKey[tuple[str, ...]]()
gc.set_threshold(50_000)  # compiling makes many objects and little garbage: looking for it took a tenth of the time


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without compiling, which both processes of pytest-xdist would do; then compile in every test.

    Tests of the small tier say so by `small_tier`; commands in other processes choose by size.
    """
    with counting_compilations() as names:
        result = yield
    session.config.stash[COMPILED] = tuple(names)
    given(st.none())(lambda _: None)()  # Hypothesis finds its generator among garbage, where a freeze hides it
    gc.collect()
    gc.freeze()  # what was collected stays: no later collection of garbage looks at it again
    tiers.compile_always()
    return result


@pytest.fixture
def compiled_before_tests(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """Functions that were compiled while tests were collected, and not loaded from the cache."""
    return pytestconfig.stash[COMPILED]


def pytest_sessionfinish() -> None:
    """Write which compiled functions were used."""
    folder = os.environ.get("PODIUM_KERNELS")
    if folder:
        Path(folder).mkdir(exist_ok=True)
        gc.unfreeze()
        used = {one.py_func for one in gc.get_objects() if issubclass(type(one), Deferred) and _was_used(one)}
        names = sorted({f"{function.__module__}.{function.__code__.co_qualname}" for function in used})
        (Path(folder) / f"{os.getpid()}.txt").write_text("\n".join(names))


def _was_used(function: Any) -> bool:
    """Whether a function was called or compiled, alone or as a part of another."""
    targets = [vars(function)[name] for name in ("_target", "_inner") if vars(function)[name] is not None]
    return any(getattr(target, "overloads", None) != {} or "inline" in target.targetoptions for target in targets)
