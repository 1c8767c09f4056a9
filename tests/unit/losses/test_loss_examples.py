"""The examples in the docstrings of losses say what comes out."""

import doctest
import importlib
import pkgutil

import pytest

import podium.losses

MODULES = [module.name for module in pkgutil.iter_modules(podium.losses.__path__, "podium.losses.")]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0
