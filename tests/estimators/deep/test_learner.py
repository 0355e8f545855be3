from dataclasses import dataclass

import pytest
from torch import nn

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.networks import Network
from likewise.estimators.registry import METHODS, method_class
from likewise.methods.shared_parameters import TrainingParameters


@pytest.mark.parametrize(
    ("base", "missing"),
    [(InteractiveClusterer, "_step_terms"), (InteractiveClusterer, "_loss_terms")],
)
def test_a_method_that_lacks_a_part_cannot_be_made(
    base: type[InteractiveClusterer], missing: str
) -> None:
    @dataclass(eq=False, repr=False)
    class Half(TrainingParameters, base):  # type: ignore[misc,valid-type]  # the base is given
        n_clusters: int = 2

    with pytest.raises(TypeError, match=missing):
        Half()


def test_a_network_without_heads_cannot_be_made() -> None:
    class Headless(Network):
        pass

    with pytest.raises(TypeError, match="heads"):
        Headless(nn.Identity())  # type: ignore[abstract]  # that is the point


@pytest.mark.parametrize("name", METHODS)
def test_only_methods_that_learn_from_two_views_have_loss_terms_of_two_views(name: str) -> None:
    found = method_class(name)
    assert hasattr(found, "_loss_terms") == issubclass(found, InteractiveClusterer)
