"""The examples in the docstrings run as they stand."""

import doctest
import importlib
import pkgutil

import pytest

import likewise.constraints

MODULES = [module.name for module in pkgutil.iter_modules(likewise.constraints.__path__)]
WITH_EXAMPLES = {"facts", "graph", "honour", "wire"}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(f"likewise.constraints.{name}")
    failed, attempted = doctest.testmod(module)
    assert failed == 0
    assert bool(attempted) == (name in WITH_EXAMPLES)


def test_every_public_name_has_a_docstring() -> None:
    for name in ("ConstraintGraph", "Fact", "Honoured", "Told", "honour", "violated", "to_line"):
        assert getattr(likewise.constraints, name).__doc__
