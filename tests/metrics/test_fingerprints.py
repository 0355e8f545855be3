"""The papers' orientation maps, scored against each other: figures published for this purpose.

Perfect default labels, scored on the personalised map, with classes of equal size.
"""

import pytest

from likewise.metrics.baselines import other_orientation_acc
from likewise.metrics.scores import score

CIFAR100_DEFAULT = {
    0: "apple beetle bicycle bowl clock cockroach crab cup dinosaur hamster keyboard lawn_mower "
    "orange orchid pear plate poppy rose spider sunflower sweet_pepper telephone tulip worm",
    1: "beaver bee butterfly camel caterpillar cattle crocodile elephant forest fox kangaroo "
    "leopard lion lizard lobster maple_tree motorcycle mouse mushroom oak_tree palm_tree "
    "pine_tree porcupine shrew snail snake squirrel tiger willow_tree",
    2: "bed bottle bridge bus can castle chair couch house lamp mountain pickup_truck plain road "
    "rocket sea skyscraper streetcar table tank television tractor train wardrobe",
    3: "aquarium_fish baby bear boy chimpanzee cloud dolphin flatfish girl man otter possum "
    "rabbit raccoon ray seal shark skunk trout turtle whale wolf woman",
}
CIFAR100_PERSONALISED = {
    0: "baby bear beaver boy camel cattle chimpanzee dolphin elephant fox girl kangaroo leopard "
    "lion man otter porcupine possum raccoon seal skunk tiger whale wolf woman",
    1: "aquarium_fish bee beetle butterfly caterpillar cockroach crab crocodile dinosaur flatfish "
    "hamster lizard lobster mouse rabbit shark shrew snail snake spider squirrel trout turtle worm",
    2: "apple cloud forest maple_tree mountain mushroom oak_tree orange orchid palm_tree pear "
    "pine_tree plain poppy ray rose sea sunflower sweet_pepper tulip willow_tree",
    3: "bed bicycle bottle bowl bridge bus can castle chair clock couch cup house keyboard lamp "
    "lawn_mower motorcycle pickup_truck plate road rocket skyscraper streetcar table tank "
    "telephone television tractor train wardrobe",
}


def by_class(groups: dict[int, str]) -> list[int]:
    """Return the group of each class, classes in alphabetical order."""
    group_of = {name: group for group, names in groups.items() for name in names.split()}
    assert len(group_of) == 100
    return [group_of[name] for name in sorted(group_of)]


MAPS = {
    "CIFAR10-2": ("0011111100", "0101110101", (0.021, 0.038, 0.538, 0.600)),
    "ImageNet10-2": ("0000011111", "0111010001", (0.029, 0.040, 0.520, 0.600)),
    "Dogs": ("000010011110100", "011100111001010", (0.080, 0.111, 0.565, 0.667)),
    "CIFAR100-4": (
        by_class(CIFAR100_DEFAULT),
        by_class(CIFAR100_PERSONALISED),
        (0.352, 0.285, 0.466, 0.560),
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_perfect_default_labels_score_as_published_on_the_personalised_map(name: str) -> None:
    default, personalised, published = MAPS[name]
    n_each = 1000  # pairs within a class count too: with few images FMI and ARI are others
    scores = score([*personalised] * n_each, [*default] * n_each)
    found = (scores.nmi, scores.ari, scores.fmi, scores.acc)
    assert tuple(round(value, 3) for value in found) == published


def test_the_best_other_orientation_counts() -> None:
    default, truth, _ = MAPS["CIFAR10-2"]
    others = ["0" * 10, default, "0101110100"]
    assert other_orientation_acc(truth, others[:2]) == 0.6
    assert other_orientation_acc(truth, others) == 0.9
    assert other_orientation_acc(truth, []) is None
