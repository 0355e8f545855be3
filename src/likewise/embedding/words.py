"""Similarities of images to words, as a feature block, for encoders that know text."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from likewise.embedding.embeddings import Embeddings
from likewise.errors import EncoderError, InvalidParameterError
from likewise.types import Floats

WORDS = "words"  #: name of the feature block
MAX_WORDS = 100
_EXAMPLE = "hf:openai/clip-vit-base-patch32"


@runtime_checkable
class TextEncoder(Protocol):
    """An encoder that also embeds texts, such as CLIP and SigLIP."""

    def similarities(self, vectors: Floats, words: Sequence[str]) -> Floats:
        """Return the cosine similarity of images, by their block ``last``, to words, (n, w)."""


def as_words(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return words given as a sequence, or as a text with commas; None and "" are no words.

    Raises
    ------
    InvalidParameterError
        If it is one word only, or a word is blank or given twice.

    Examples
    --------
    >>> as_words("red, dark green")
    ('red', 'dark green')
    """
    parts: Sequence[Any] = given.split(",") if isinstance(given, str) else given or ()
    words = tuple(one.strip() if isinstance(one, str) else one for one in parts)
    if not words or words == ("",):
        return ()
    is_text = all(isinstance(word, str) and word and "," not in word for word in words)
    if not is_text or len({*words}) < len(words) or not 2 <= len(words) <= MAX_WORDS:
        raise InvalidParameterError(
            f"words must be 2 to {MAX_WORDS} different texts without commas, for example "
            f"'red,green,blue', got {given!r:.200}."
        )
    return words


def no_text_error(encoder: str) -> EncoderError:
    """Return the error of an encoder that does not know text."""
    return EncoderError(
        f"words need an encoder that knows text, got {encoder!r}; use one such as {_EXAMPLE}, or "
        "leave the words out."
    )


def add_similarities(embeddings: Embeddings, encoder: Any, words: Sequence[str]) -> Embeddings:
    """Return the embeddings with one more block: the similarity of each image to each word.

    Each row has mean 0: what an image has in common with all the words does not count.

    Raises
    ------
    EncoderError
        If the encoder does not know text.
    """
    if not isinstance(encoder, TextEncoder):
        raise no_text_error(str(getattr(encoder, "name", encoder)))
    similarities = encoder.similarities(embeddings.blocks["last"], words)
    similarities = similarities - similarities.mean(axis=1, keepdims=True)
    widths = {name: vectors.shape[1] for name, vectors in embeddings.blocks.items()}
    return Embeddings.from_matrix(
        np.concatenate([embeddings.matrix(), similarities], axis=1),
        {**widths, WORDS: len(words)},
        embeddings.skipped,
        embeddings.positions,
        embeddings.local_features,
    )
