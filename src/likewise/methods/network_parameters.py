"""The constructor of every method with a network, as far as they have it in common."""

from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from likewise.methods.architecture import Architecture
from likewise.methods.plan import Plan


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkParameters:
    """Parameters that mean the same in all of them; `CC` says what.

    A method is a dataclass without comparison and representation, which scikit-learn has its
    own way with: its fields are its constructor, and nothing else happens there.
    """

    views: Literal["two", "one", "none"] = "two"
    preset: str | None = None
    encoder: Any = "bundled"
    backbone: str | nn.Module | None = None
    architecture: Architecture | None = None
    plan: Plan | None = None
    random_state: int | None = None
