"""Views: what 'the same picture' means before anyone is asked."""

from likewise.augment.recipe import RECIPES, Recipe, make_recipe
from likewise.augment.two_views import evaluation_view, one_view, two_views
from likewise.augment.vector_views import VectorViews, two_vector_views

__all__ = [
    "RECIPES",
    "Recipe",
    "VectorViews",
    "evaluation_view",
    "make_recipe",
    "one_view",
    "two_vector_views",
    "two_views",
]
