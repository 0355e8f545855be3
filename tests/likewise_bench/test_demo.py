from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from likewise.embedding.cache import EmbeddingCache
from likewise.metrics import accuracy
from likewise_bench.demo import Demo, demo_page, run_demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    with threadpool_limits(1):
        return run_demo(128, 32, store=EmbeddingCache(tmp_path_factory.mktemp("cache")))


def test_without_answers_the_groups_follow_another_criterion(shown: Demo) -> None:
    assert shown.guessed == "background"
    figures = shown.figures()
    assert figures["guessed"] is not None
    assert figures["before"] is not None
    assert figures["guessed"] > figures["before"] + 0.2


def test_the_annotator_answers_the_given_number_of_questions(shown: Demo) -> None:
    assert shown.n_answers == 32
    assert 2 <= len(shown.asked) <= 128


def test_the_accuracies_are_computed_on_the_named_images(shown: Demo) -> None:
    figures, truth = shown.figures(), shown.truth["shape"]
    assert figures["after"] == accuracy(truth, shown.after)
    assert figures["before"] == accuracy(truth, shown.before)
    rest = [i for i in range(128) if i not in shown.asked]
    assert figures["after_unasked"] == accuracy(truth[rest], shown.after[rest])
    everyone = replace(shown, asked=np.arange(128))
    assert everyone.figures()["after_unasked"] is None
    assert "no question named" not in " ".join(demo_page(everyone).paragraphs)


def test_the_page_shows_both_clusterings_and_marks_wrong_images(shown: Demo) -> None:
    before, after = demo_page(shown).sections
    assert before.title.endswith("grouped by background")
    assert sum(group.n_images for group in before.groups) == 128
    assert sum(group.n_images for group in after.groups) == 128
    for group in after.groups:
        for tile in group.tiles:
            assert (tile.mark == "odd") == (tile.title.split(", ")[0] != group.name)
            assert tile.thumbnail[8:12] == b"WEBP"
    assert {group.name for group in before.groups} <= set(shown.truth["background"])


def test_the_demo_is_reproducible(shown: Demo, tmp_path: Path) -> None:
    with threadpool_limits(1):
        again = run_demo(128, 32, store=EmbeddingCache(tmp_path))
    np.testing.assert_array_equal(again.after, shown.after)


def test_every_cluster_is_named_with_fewer_classes_than_clusters(shown: Demo) -> None:
    truth = {name: shown.truth[name] for name in ("shape", "size")}
    is_small = truth["size"] == "small"
    quarters = 2 * is_small + np.arange(128) % 2  # by size, and each of the two cut in half
    section = demo_page(replace(shown, truth=truth, before=quarters)).sections[0]
    assert section.title.endswith("grouped by size")
    assert [group.name for group in section.groups] == ["large", "large", "small", "small"]
    assert sum(group.n_images for group in section.groups) == 128
