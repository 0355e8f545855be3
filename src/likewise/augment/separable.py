"""Rows and columns of every picture mixed by matrices of its own: crops and blurs are both that."""

from torch import Tensor


def mix(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return ``rows @ image @ columns.T`` for each channel of each image.

    Parameters
    ----------
    images : Tensor of shape (n, c, h, w)
    rows : Tensor of shape (n, s, h)
    columns : Tensor of shape (n, t, w)

    Returns
    -------
    mixed : Tensor of shape (n, c, s, t)
    """
    (n, c, h, w), s, t = images.shape, rows.shape[1], columns.shape[1]
    # Channels side by side, so that an image is one large product and not c small ones.
    across = images.reshape(n, c * h, w) @ columns.transpose(1, 2)  # (n, c h, t)
    side_by_side = across.view(n, c, h, t).transpose(1, 2).reshape(n, h, c * t)  # (n, h, c t)
    down = rows @ side_by_side  # (n, s, c t)
    return down.view(n, s, c, t).transpose(1, 2).contiguous()
