"""The groupings, class by class, transcribed a second time: as digits in the order of classes."""

from collections import Counter

import numpy as np
import pytest

from likewise.metrics import score
from likewise_bench.datasets.base import class_names, criteria, groupings, synsets

# PCL, Tables 6-11, and the authors' code for the dogs: the group of each class.
PRINTED = {
    ("cifar10", "default"): "0011111100",
    ("cifar10", "personalised"): "0101110101",
    ("imagenet10", "default"): "0000011111",
    ("imagenet10", "personalised"): "0111010001",
    ("imagenet-dogs", "default"): "000010011110100",
    ("imagenet-dogs", "personalised"): "011100111001010",
    ("cifar100", "default"): "03331210020322112211230302010031311302102011113112"
    "11100310212001333322023313211012002202122303231330",
    ("cifar100", "personalised"): "21000311333033103310303213113100120013033300110232"
    "12222022322320010233220110311113223333033121302001",
}
# CIFAR-100's own numbers of the superclass of each class.
SUPERCLASSES = """
 4  1 14  8  0  6  7  7 18  3  3 14  9 18  7 11  3  9  7 11  6 11  5 10  7
 6 13 15  3 15  0 11  1 10 12 14 16  9 11  5  5 19  8  8 15 13 14 17 18 10
16  4 17  4  2  0 17  4 18 17 10  3  2 12 12 16 12  1  9 19  2 10  0  1 16
12  9 13 15 13 16 19  2  4  6 19  5  5  8 19 18  1  2 15  6  0 17  8 14 13
"""
NAMES = {
    ("cifar10", "default"): ["artifacts", "animals"],
    ("cifar10", "personalised"): ["others", "land"],
    ("imagenet10", "default"): ["animals", "artifacts"],
    ("imagenet10", "personalised"): ["river", "land"],
    ("imagenet-dogs", "default"): ["0", "1"],
    ("imagenet-dogs", "personalised"): ["0", "1"],
    ("cifar100", "default"): ["0", "1", "2", "3"],
    ("cifar100", "personalised"): ["large animals", "small animals", "plants", "artifacts"],
}


@pytest.mark.parametrize(("dataset", "criterion"), PRINTED)
def test_every_class_is_in_its_published_group(dataset: str, criterion: str) -> None:
    names = NAMES[dataset, criterion]
    expected = [names[int(digit)] for digit in PRINTED[dataset, criterion]]
    found = criteria(dataset, np.array(class_names(dataset)))[criterion]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("criterion", "sizes"), [("default", [24, 29, 24, 23]), ("personalised", [25, 24, 21, 30])]
)
def test_the_groups_of_cifar100_have_the_published_sizes(criterion: str, sizes: list[int]) -> None:
    assert [len(classes) for classes in groupings("cifar100")[criterion].values()] == sizes


def test_superclasses_are_those_of_cifar100() -> None:
    names = sorted(groupings("cifar100")["superclass"])
    expected = [names[int(number)] for number in SUPERCLASSES.split()]
    found = criteria("cifar100", np.array(class_names("cifar100")))["superclass"]
    assert found.tolist() == expected
    assert set(Counter(expected).values()) == {5}


@pytest.mark.parametrize("dataset", ["cifar10", "cifar100", "imagenet10", "imagenet-dogs"])
def test_each_criterion_has_each_class_once(dataset: str) -> None:
    for groups in groupings(dataset).values():
        members = [name for classes in groups.values() for name in classes]
        assert sorted(members) == sorted(class_names(dataset))


@pytest.mark.parametrize(
    ("dataset", "scores"),
    [
        ("cifar10", (0.021, 0.038, 0.538, 0.600)),
        ("cifar100", (0.352, 0.285, 0.466, 0.560)),
        ("imagenet10", (0.029, 0.040, 0.520, 0.600)),
        ("imagenet-dogs", (0.080, 0.111, 0.565, 0.667)),
    ],
)
def test_scores_of_the_default_against_the_personalised_criterion(
    dataset: str, scores: tuple[float, ...]
) -> None:
    """The fingerprint of METHODS 3.7 and 5.3; PCL's and OCC's tables show it too."""
    found = criteria(dataset, np.array(class_names(dataset) * 1000))
    got = score(found["personalised"], found["default"])
    assert (got.nmi, got.ari, got.fmi, got.acc) == pytest.approx(scores, abs=0.0006)


@pytest.mark.parametrize(
    ("dataset", "n_classes"),
    [("cifar10", 10), ("cifar100", 100), ("stl10", 10), ("fashion-mnist", 10)],
)
def test_sets_without_synsets_have_classes(dataset: str, n_classes: int) -> None:
    assert len(set(class_names(dataset))) == n_classes


def test_the_two_imagenet10_share_no_class_and_synsets_are_in_order() -> None:
    ours, dac, dogs = (synsets(n) for n in ("imagenet10", "imagenet10-dac", "imagenet-dogs"))
    assert not ours.keys() & dac.keys()
    assert (len(ours), len(dac), len(dogs)) == (10, 10, 15)
    for found in (ours, dac, dogs):
        assert list(found) == sorted(found)  # class numbers follow the folders' order


def test_dac_and_the_dogs_are_known_by_name() -> None:
    assert class_names("imagenet10-dac") == [
        *("king penguin", "Maltese", "snow leopard", "airliner", "airship"),
        *("container ship", "soccer ball", "sports car", "trailer truck", "orange"),
    ]
    assert class_names("imagenet10") == [
        *("drake", "dhole", "lion", "wild boar", "hippopotamus"),
        *("beach wagon", "canoe", "ocean liner", "pirate ship", "tow truck"),
    ]
    assert class_names("imagenet-dogs")[:5] == [
        *("Maltese", "Blenheim spaniel", "basset", "Norwegian elkhound", "giant schnauzer"),
    ]


def test_every_data_set_has_the_criterion_class() -> None:
    classes = np.array(["ship", "bird", "ship"])
    assert criteria("stl10", classes) == {"class": classes}
