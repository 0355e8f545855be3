"""On what a method stands: vectors of an encoder, or a network trained on the pictures."""

from likewise.embedding.registry import DEFAULT, make_encoder
from likewise.errors import InvalidParameterError
from likewise.methods.base import PersonalClusterer

DEFAULT_BACKBONE = "resnet18"


def on_pictures(model: PersonalClusterer) -> PersonalClusterer:
    """Have a method train its own network, from scratch.

    The network is that of its settings or preset, else a small one.

    Raises
    ------
    InvalidParameterError
        If the method knows vectors only.
    """
    parameters = model.get_params()
    if "backbone" not in parameters:
        raise InvalidParameterError(
            f"{type(model).__name__} works on vectors and trains no network on pictures; "
            "leave out --from-scratch, or choose another method."
        )
    if parameters["backbone"] is None:
        model.set_params(backbone=DEFAULT_BACKBONE)
    return model


def on_vectors(model: PersonalClusterer, encoder: str) -> PersonalClusterer:
    """Have a method work on the vectors of `encoder`, whatever network its preset has.

    ``bundled`` may be another network in a later release; the model remembers which it is.
    """
    lasting = make_encoder(encoder).name if encoder == DEFAULT else encoder
    changes: dict[str, str | None] = {"encoder": lasting}
    if "backbone" in model.get_params():
        changes["backbone"] = None
    model.set_params(**changes)
    return model
