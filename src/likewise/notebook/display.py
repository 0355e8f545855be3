"""What notebooks display: the groups of a fitted model as HTML, and progress bars."""

import time
from base64 import b64encode
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from likewise.errors import LikewiseError, MissingExtraError
from likewise.types import Progress

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer

_N_EXAMPLES, _SIDE, _MAX_GROUPS = 6, 56, 30


def summary_html(model: "InteractiveClusterer") -> str:
    """Return a table of the groups of a fitted model, with their most confident images."""
    labels = model.labels_
    own = model.probabilities_[np.arange(len(labels)), labels]
    sizes = np.bincount(labels)
    rows = []
    for group in np.argsort(-sizes, kind="stable")[:_MAX_GROUPS].tolist():
        members = np.flatnonzero(labels == group)
        surest = members[np.argsort(-own[members], kind="stable")[:_N_EXAMPLES]]
        examples = "".join(_image(model, int(image)) for image in surest)
        rows.append(
            f"<tr><td>{group}</td><td>{sizes[group]:,}</td><td>{own[members].mean():.2f}</td>"
            f"<td>{examples}</td></tr>"
        )
    hidden = len(sizes) - len(rows)
    more = f"<p>… and {hidden:,} more groups.</p>" if hidden else ""
    return (
        f"<p>{len(labels):,} images in {len(sizes):,} groups; {model.n_answered_:,} answers"
        f"{_accuracy(model)}.</p><table><thead><tr><th>group</th><th>images</th>"
        f"<th>mean confidence</th><th>surest</th></tr></thead><tbody>{''.join(rows)}</tbody>"
        f"</table>{more}"
    )


def _accuracy(model: "InteractiveClusterer") -> str:
    found = getattr(model, "accuracy_estimate_", None)
    if found is None:
        return ""
    return f"; estimated accuracy {found.estimate:.0%} ({found.low:.0%} to {found.high:.0%})"


def _image(model: "InteractiveClusterer", image: int) -> str:
    """Return a small image, or its number if the model was fitted to vectors."""
    images = getattr(model, "images_", None)
    if images is None:
        return f"{image} "
    name = escape(images.name(image))
    try:
        picture = Image.fromarray(images.pixels(image))
    except LikewiseError:
        return f"{name} "
    picture.thumbnail((2 * _SIDE, 2 * _SIDE))
    with BytesIO() as stream:
        picture.save(stream, "WEBP", quality=80)
        data = b64encode(stream.getvalue()).decode("ascii")
    style = f"height:{_SIDE}px;display:inline-block;margin:0 3px 0 0"
    source = f"data:image/webp;base64,{data}"
    return f'<img style="{style}" src="{source}" title="{name}" alt="{name}">'


def progress_bar(title: str = "Training") -> Progress:
    """Return a progress bar of the notebook, with rate and remaining time.

    Examples
    --------
    ``model.fit(images, progress=progress_bar())``

    Raises
    ------
    MissingExtraError
        If the extra ``notebook`` is not installed.
    """
    try:
        from IPython.display import display
        from ipywidgets import HBox, IntProgress, Label
    except ModuleNotFoundError as missing:
        raise MissingExtraError("progress_bar()", str(missing.name), "notebook") from missing
    bar, text = IntProgress(description=title, style={"description_width": "initial"}), Label()
    begin, is_shown = time.monotonic(), False

    def update(done: int, total: int) -> None:
        nonlocal is_shown
        if not is_shown:  # a step that has nothing to do shows no bar
            display(HBox([bar, text]))
            is_shown = True
        seconds = time.monotonic() - begin
        bar.max, bar.value = max(total, 1), done
        rate = done / seconds if seconds else 0.0
        left = f", {(total - done) / rate:,.0f} s left" if rate and done < total else ""
        text.value = f"{done:,} of {total:,} ({rate:,.1f}/s{left})"

    return update
