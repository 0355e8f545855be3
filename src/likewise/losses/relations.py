"""The answers of a batch, laid out over its two views."""

from torch import Tensor

from likewise.errors import InvalidParameterError


def tiled(relations: Tensor, n: int) -> Tensor:
    """Return relations of n images as relations of their 2n views, checked.

    Parameters
    ----------
    relations : Tensor of shape (n, n)
        ``+1`` same, ``-1`` different, ``0`` unknown; zero diagonal.
    n : int
        How many images the batch has.

    Returns
    -------
    relations : Tensor of shape (2n, 2n)
        View a first; two views of one image have relation 0 here.

    Raises
    ------
    InvalidParameterError
        If the shape is another, or an image has a relation to itself.
    """
    if relations.shape != (n, n):
        raise InvalidParameterError(
            f"relations has shape {tuple(relations.shape)}, but a batch of {n} images needs "
            f"({n}, {n}); ask the constraint graph for the relations of exactly this batch."
        )
    itself = relations.diagonal().nonzero()
    if len(itself) > 0:
        raise InvalidParameterError(
            f"relations[{int(itself[0])}, {int(itself[0])}] relates an image to itself, which "
            "would count one view as another image; set the diagonal to 0."
        )
    return relations.repeat(2, 2)
