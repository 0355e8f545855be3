"""Subsets of ImageNet (ILSVRC 2012, training images)."""

import tarfile
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from likewise.errors import DatasetError
from likewise_bench.datasets.archives import (
    ArchiveCollection,
    ArchiveMember,
    members_of,
    tar_members,
)
from likewise_bench.datasets.base import Dataset, criteria, some, synsets

_WHERE = "https://image-net.org (ILSVRC 2012, training images; free after registration)"
_WHOLE = "ILSVRC2012_img_train.tar"
_FOLDERS = ("", "train", "ILSVRC2012_img_train", "ILSVRC/Data/CLS-LOC/train")


def load_imagenet_part(name: str, data: Path | None) -> Dataset:
    """Load the training images of the classes of a data set, in the order of the classes.

    Each class is a folder ``n01847000/`` or an archive ``n01847000.tar`` in `data` or in its
    subfolder ``train/``; or all classes are in the official ``ILSVRC2012_img_train.tar``, which
    is read without unpacking.
    """
    if data is None:
        raise DatasetError(
            f"The data set {name!r} needs a folder (--data); download {_WHOLE} from {_WHERE} and "
            "give its folder."
        )
    if data.is_file() and data.name != _WHOLE:
        raise DatasetError(
            f"{str(data)!r} is a file, but not {_WHOLE}; --data must be that file, its folder or "
            f"the folder of the classes of {name!r}."
        )
    try:
        pieces = _pieces(name, data)
    except (OSError, tarfile.TarError) as error:
        raise DatasetError(
            f"An archive of {name} is damaged or incomplete ({error}); "
            f"download it again from {_WHERE}."
        ) from error
    missing = [synset for synset in synsets(name) if not pieces.get(synset)]
    if missing:
        raise DatasetError(
            f"{str(data)!r} has no images of {len(missing)} of the {len(synsets(name))} classes "
            f"of {name} ({some(missing)}); put {_WHOLE}, or a folder or .tar for each class, "
            f"there, from {_WHERE}."
        )
    classes = [label for synset, label in synsets(name).items() for _ in pieces[synset]]
    found = [piece for synset in synsets(name) for piece in pieces[synset]]
    return Dataset(name, criteria(name, np.array(classes)), ArchiveCollection(found))


load_imagenet10 = partial(load_imagenet_part, "imagenet10")
load_imagenet10_dac = partial(load_imagenet_part, "imagenet10-dac")
load_imagenet_dogs = partial(load_imagenet_part, "imagenet-dogs")


def _pieces(name: str, data: Path) -> dict[str, list[ArchiveMember]]:
    """Return the images of each class that is present."""
    whole = next((p for p in (data, data / _WHOLE) if p.is_file() and p.name == _WHOLE), None)
    if whole is not None:
        members = {
            PurePosixPath(m.name).stem: m.offset for m in tar_members(whole, 0, only_images=False)
        }
        offsets = {synset: members[synset] for synset in synsets(name) if synset in members}
        return {synset: _sorted(whole, offset) for synset, offset in offsets.items()}
    places = {
        synset: place
        for synset in synsets(name)
        for folder in reversed(_FOLDERS)
        for place in (data / folder / f"{synset}.tar", data / folder / synset)
        if place.exists()
    }
    return {synset: list(members_of(place)) for synset, place in places.items()}


def _sorted(archive: Path, offset: int) -> list[ArchiveMember]:
    return sorted(tar_members(archive, offset), key=lambda piece: piece.name)
