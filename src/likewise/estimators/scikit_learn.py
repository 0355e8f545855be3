"""What every estimator inherits from scikit-learn, with the types that scikit-learn lacks."""

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:

    class ScikitLearnEstimator:
        """An estimator with parameters, feature names and output containers."""

        n_features_in_: int
        feature_names_in_: npt.NDArray[np.object_]

        def __init__(self, *_: Any, **parameters: Any) -> None: ...

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the constructor parameters."""
            raise NotImplementedError

        def set_params(self, **params: Any) -> Self:
            """Set constructor parameters."""
            raise NotImplementedError

        def set_output(
            self, *, transform: Literal["default", "pandas", "polars"] | None = None
        ) -> Self:
            """Set in which container `transform` returns the representation."""
            raise NotImplementedError

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            """Set which parameters of `fit` a pipeline or search passes on."""
            raise NotImplementedError

        def get_feature_names_out(self, input_features: Any = None) -> Any:
            """Return the names of the columns of `transform`."""
            raise NotImplementedError

        def get_metadata_routing(self) -> Any:
            """Return which parameters of `fit` are passed on."""
            raise NotImplementedError

        def _html_repr(self) -> str:
            raise NotImplementedError

        def __sklearn_tags__(self) -> Any:
            raise NotImplementedError

else:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        TransformerMixin,
    )

    class ScikitLearnEstimator(
        ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator
    ):
        """An estimator with parameters, feature names and output containers."""
