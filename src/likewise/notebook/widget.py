"""AskWidget: the question screen of the page as a notebook widget."""

from base64 import b64encode
from collections.abc import Mapping
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

from PIL import Image

from likewise.constraints.question import NEW, TICKED, Answer, Question
from likewise.errors import (
    InvalidParameterError,
    LikewiseError,
    MissingExtraError,
    PoolExhaustedError,
)
from likewise.images.as_collection import as_collection
from likewise.images.collection import ImageCollection

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as missing:
    raise MissingExtraError("ask_widget()", str(missing.name), "notebook") from missing

_SIZES = {"large": 640, "small": 160}  # side lengths in pixels
_PAGE = "likewise.server"
_STYLES = ("tokens.css", "question.css")  # the stylesheets of the page
_KINDS: Mapping[str, frozenset[str]] = {
    "pair": frozenset({"same", "different", "cannot_tell", "bad_image"}),
    "choice": frozenset({"none", NEW, "cannot_tell", "bad_image"}),
    "grid": frozenset({TICKED, "cannot_tell", "bad_image"}),
    "label": frozenset({"cannot_tell", "bad_image"}),
}


def _style() -> str:
    page = files(_PAGE).joinpath("page")
    text = "\n".join(page.joinpath(name).read_text("utf-8") for name in _STYLES)
    own = files(__package__).joinpath("widget.css").read_text("utf-8")
    return text.replace(":root", ":host").replace("html, body", ".body") + own


class AskWidget(anywidget.AnyWidget):
    """Shows one question after the other and passes the answers to the model, which it trains.

    The model must have been started (``model.start(X)``); made by ``model.ask_widget()``.

    Parameters
    ----------
    model : InteractiveClusterer
    images : see `InteractiveClusterer.start`, optional
        The images to show, in the order of the model's; by default those it was started with.
    train_after : int
        Number of answers after which the model trains.
    by : str
        What to group by, for the text of the question.

    Attributes
    ----------
    question : dict
        The question shown; ``{}`` when none are left.
    status : dict
        ``n_answers``, ``message`` and, during training, ``done`` and ``total``.
    """

    _esm = files(__package__).joinpath("widget.js").read_text("utf-8")
    style_text = traitlets.Unicode(_style()).tag(sync=True)
    by = traitlets.Unicode("").tag(sync=True)
    question = traitlets.Dict().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        model: "InteractiveClusterer",
        images: Any = None,
        *,
        train_after: int = 5,
        by: str = "",
    ) -> None:
        if train_after < 1:
            raise InvalidParameterError(f"train_after must be an integer >= 1, got {train_after}.")
        self.model, self._images = model, _shown_images(model, images)
        self._train_after, self._n_new = train_after, 0
        self._asked: Question | None = None
        self._given: list[tuple[int, Question]] = []
        super().__init__(by=by)
        self.on_msg(self._receive)
        self._next()

    # -- messages of the page -----------------------------------------------------

    def _receive(self, _: object, content: Mapping[str, Any], __: object) -> None:
        """Handle an input of the person; an error is shown and not raised in the kernel."""
        try:
            if content.get("undo"):
                self._undo()
            elif self._asked is not None and content.get("id") == self.question.get("id"):
                self._answer(str(content.get("answer")), content.get("ticked", ()))
        except LikewiseError as error:
            self._report(str(error))

    def _answer(self, text: str, ticked: Any) -> None:
        question = self._asked
        assert question is not None
        allowed = _KINDS[question.kind]
        if text not in allowed and text not in question.groups and question.kind != "label":
            raise InvalidParameterError(
                f"The answer to a {question.kind} must be one of "
                f"{sorted([*allowed, *question.groups])}, got {text!r}."
            )
        images = tuple(int(image) for image in ticked)
        result = self.model.tell_one(Answer(question, text, ticked=images))
        self._given.append((result.id, question))
        self._n_new += 1
        if self._n_new >= self._train_after:
            self._train()
        self._next()

    def _undo(self) -> None:
        if self._given:
            number, question = self._given.pop()
            self.model.constraints_.retract(number)
            self._n_new = max(self._n_new - 1, 0)
            self._show(question)
            self._report("Undone.")

    # -- the model ----------------------------------------------------------------

    def _train(self) -> None:
        def progress(done: int, total: int) -> None:
            self._report("Training", done=done, total=total)

        self._report("Training")
        self.model.train(progress=progress)
        self._n_new = 0

    def _next(self) -> None:
        try:
            (question,) = self.model.ask(1)
        except PoolExhaustedError:
            self._asked, self.question = None, {}
            self._report("No questions left.")
            return
        self._show(question)
        self._report("")

    def _show(self, question: Question) -> None:
        self._asked = question
        n_large = len(question.asked) if question.kind == "pair" else int(question.kind != "grid")
        self.question = {
            "id": len(self._given),
            "kind": question.kind,
            "groups": list(question.groups),
            "images": [
                {"id": image, **self._picture(image, "large" if place < n_large else "small")}
                for place, image in enumerate(question.images)
            ],
        }

    def _report(self, message: str, **more: int) -> None:
        self.status = {"n_answers": len(self._given), "message": message, **more}

    def _picture(self, image: int, size: str) -> dict[str, str]:
        with BytesIO() as stream:
            picture = Image.fromarray(self._images.pixels(image))
            picture.thumbnail((_SIZES[size], _SIZES[size]))
            picture.save(stream, "WEBP", quality=85)
            data = b64encode(stream.getvalue()).decode("ascii")
        return {"name": self._images.name(image), "src": f"data:image/webp;base64,{data}"}


def _shown_images(model: "InteractiveClusterer", images: Any) -> ImageCollection:
    """Return the images that the questions of a model are about."""
    if not hasattr(model, "constraints_"):
        raise InvalidParameterError("Start the model before ask_widget(): model.start(X).")
    if not model.asks:
        raise InvalidParameterError(
            f"{type(model).__name__} asks no questions; use another method, such as Likewise."
        )
    shown = getattr(model, "images_", None) if images is None else as_collection(images)
    if shown is None:
        raise InvalidParameterError(
            "The model was started with vectors; give the images to show, in the same order: "
            "model.ask_widget(images)."
        )
    n_images = len(model.labels_)
    if len(shown) != n_images:
        raise InvalidParameterError(
            f"images must have one image for each of the {n_images:,} of the model, got "
            f"{len(shown):,}."
        )
    collection: ImageCollection = shown
    return collection
