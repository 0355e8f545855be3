"""Constructors, as far as methods have them in common.

A method is a dataclass without comparison and representation, which scikit-learn has its
own way with: its fields are its constructor, and nothing else happens there.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self

from torch import nn

from likewise.methods.architecture import Architecture
from likewise.methods.asking import Candidates
from likewise.methods.plan import Plan
from likewise.methods.settings import preset_of
from likewise.queries.base import QueryStrategy


@dataclass(eq=False, repr=False, kw_only=True)
class VectorParameters:
    """Of every method: how pictures become vectors, and the seed."""

    encoder: Any = "bundled"
    random_state: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingParameters(VectorParameters):
    """Of methods with a network; `CC` says what they mean."""

    backbone: str | nn.Module | None = None
    architecture: Architecture | None = None
    plan: Plan | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkParameters(TrainingParameters):
    """Of the papers' systems: their views and presets too."""

    views: Literal["two", "one", "none"] = "two"
    preset: str | None = None

    @classmethod
    def from_preset(cls, preset: str, **changes: Any) -> Self:
        """Return the method as a preset has it, but for `changes`.

        In ``PCL(preset="paper", norm="global")`` the preset wins, for an estimator cannot know
        that a value which is the default was given. Here the change does.

        Examples
        --------
        >>> from likewise import OCC
        >>> OCC.from_preset("paper", extension=0.0).extension
        0.0
        """
        return cls(**{**preset_of(cls, preset), **changes})


@dataclass(eq=False, repr=False, kw_only=True)
class PairParameters:
    """Of rivals that ask about pairs."""

    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"
