"""Small networks on top of features."""

from likewise.heads.assignment import AssignmentHead
from likewise.heads.attention import ContextAttention, draw_context
from likewise.heads.classifier import ClassifierHead
from likewise.heads.facet_gate import FacetGate
from likewise.heads.projection import ProjectionHead
from likewise.heads.trunk import VectorTrunk

__all__ = [
    "AssignmentHead",
    "ClassifierHead",
    "ContextAttention",
    "FacetGate",
    "ProjectionHead",
    "VectorTrunk",
    "draw_context",
]
