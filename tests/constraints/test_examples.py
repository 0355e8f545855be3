"""The examples in the docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import likewise.constraints

MODULES = [module.name for module in pkgutil.iter_modules(likewise.constraints.__path__)]
WITH_EXAMPLES = {"answers", "assignment", "constraint", "graph", "question", "serialization"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(f"likewise.constraints.{name}")
    failed, attempted = doctest.testmod(module)
    assert failed == 0
    assert bool(attempted) == (name in WITH_EXAMPLES)
