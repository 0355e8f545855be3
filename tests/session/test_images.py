from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import CollectionError
from likewise.images.collection import Skipped
from likewise.session import Session
from likewise.session.images import to_blob, to_text
from tests.session.pictures import Pictures, content_hash, pictures


@pytest.fixture
def abc(tmp_path: Path) -> Iterator[Session]:
    """Return a session of a.jpg, b.jpg and c.jpg, of which the first and last are copies."""
    with Session.create(tmp_path / "abc", Pictures(["a.jpg", "b.jpg", "c.jpg"], "xyx")) as session:
        session.add_criterion("season")
        yield session


def test_image_i_of_the_collection_is_image_i_of_the_session(abc: Session) -> None:
    assert abc.images.names == ["a.jpg", "b.jpg", "c.jpg"]
    assert abc.images.hashes == [content_hash(c) for c in "xyx"]
    assert abc.images.first.tolist() == [0, 1, 0]
    assert abc.images.askable.tolist() == [0, 1]


def test_new_images_come_last_and_old_ones_stay_where_they_are(abc: Session) -> None:
    changes = abc.sync(Pictures(["0.jpg", "a.jpg", "b.jpg", "c.jpg"], "zxyx"))
    assert changes.positions.tolist() == [3, 0, 1, 2]
    assert changes.added == (3,)
    assert abc.images.names == ["a.jpg", "b.jpg", "c.jpg", "0.jpg"]


def test_missing_images_keep_their_position_and_their_answers(abc: Session) -> None:
    abc.sync(Pictures(["a.jpg", "b.jpg", "c.jpg", "d.jpg"], "xyxw"))
    abc.tell(Answer(Question.pair(0, 1), "same"))
    abc.tell(Answer(Question.pair(1, 3), "same"))
    changes = abc.sync(Pictures(["a.jpg", "c.jpg", "d.jpg"], "xxw"))
    assert changes.missing == (1,)
    assert abc.images.status == ["present", "missing", "present", "present"]
    assert abc.graph("season").relation(0, 3) is Relation.SAME  # by way of the missing one
    assert abc.images.askable.tolist() == [0, 3]
    again = abc.sync(Pictures(["a.jpg", "c.jpg", "d.jpg"], "xxw"))
    assert (again.missing, again.returned) == ((), ())
    assert abc.sync(Pictures(["a.jpg", "b.jpg", "c.jpg", "d.jpg"], "xyxw")).returned == (1,)


def test_a_renamed_image_is_still_the_same(abc: Session) -> None:
    changes = abc.sync(Pictures(["a.jpg", "new.jpg", "c.jpg"], "xyx"))
    assert changes.renamed == (1,)
    assert (changes.added, changes.missing) == ((), ())
    assert abc.images.names == ["a.jpg", "new.jpg", "c.jpg"]


def test_of_two_copies_the_one_whose_name_is_gone_was_renamed(abc: Session) -> None:
    changes = abc.sync(Pictures(["0.jpg", "b.jpg", "c.jpg"], "xyx"))
    assert changes.positions.tolist() == [0, 1, 2]
    assert changes.renamed == (0,)


def test_another_picture_under_an_old_name_is_a_new_image(abc: Session) -> None:
    changes = abc.sync(Pictures(["a.jpg", "b.jpg", "c.jpg"], "xwx"))
    assert (changes.added, changes.missing) == ((3,), (1,))
    assert abc.images.names == ["a.jpg", "b.jpg", "c.jpg", "b.jpg"]


def test_a_picture_that_can_no_longer_be_read_is_broken_not_missing(abc: Session) -> None:
    changes = abc.sync(Pictures(["a.jpg", "c.jpg"], "xx", [Skipped("b.jpg", "is empty.")]))
    assert (changes.broken, changes.missing) == ((1,), ())
    assert abc.images.status[1] == "broken"


def test_an_answer_about_copies_refers_to_a_present_copy(abc: Session) -> None:
    abc.tell(Answer(Question.pair(1, 2), "same"))
    assert abc.graph("season").relation(0, 1) is Relation.SAME
    abc.sync(Pictures(["b.jpg", "c.jpg"], "yx"))
    assert abc.images.first.tolist() == [2, 1, 2]
    assert abc.images.askable.tolist() == [1, 2]
    assert abc.graph("season").relation(1, 2) is Relation.SAME


def test_an_open_reader_learns_of_new_images(abc: Session) -> None:
    with Session.open(abc.path, write=False) as reader:
        assert reader.graph("season").n_images == 3
        abc.sync(Pictures(["a.jpg", "b.jpg", "c.jpg", "d.jpg"], "xyxw"))
        abc.tell(Answer(Question.pair(1, 3), "same"))
        assert reader.graph("season").relation(1, 3) is Relation.SAME


def test_sizes_and_times_of_files_tell_which_need_no_new_hash(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "0.jpg").write_bytes(b"12345")
    with Session.create(tmp_path / "s", pictures(2), root=tmp_path / "photos") as session:
        time = (tmp_path / "photos" / "0.jpg").stat().st_mtime_ns
        assert session.images.known_files == {("0.jpg", 5, time): content_hash("0")}


def test_the_pictures_are_found_again_when_both_folders_move_together(tmp_path: Path) -> None:
    (tmp_path / "old" / "photos").mkdir(parents=True)
    path = tmp_path / "old" / "photos.likewise"
    Session.create(path, pictures(2), root=tmp_path / "old" / "photos").close()
    (tmp_path / "old").rename(tmp_path / "new")
    with Session.open(tmp_path / "new" / "photos.likewise") as session:
        assert session.root == tmp_path / "new" / "photos"


def test_pictures_elsewhere_are_found_by_their_whole_path(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    session = Session.create(tmp_path / "sessions" / "s", pictures(2), root=tmp_path / "photos")
    with session:
        assert session.root == tmp_path / "photos"


@given(st.text(st.characters()))
def test_any_string_is_restored_from_bytes(text: str) -> None:
    assert to_text(to_blob(text)) == text


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(names=st.lists(st.text(st.characters(), min_size=1), min_size=1, max_size=5))
def test_any_file_name_is_read_as_it_was_written(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("names") / "s"
    with Session.create(path, Pictures(names, [str(i) for i in range(len(names))])):
        pass
    with Session.open(path, write=False) as session:
        assert session.images.names == names


def test_a_collection_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="is empty"):
        Session.create(tmp_path / "s", pictures(0))
    assert list(tmp_path.iterdir()) == []


def test_present_is_what_can_be_looked_at(abc: Session) -> None:
    abc.sync(Pictures(["a.jpg", "c.jpg"], "xx", [Skipped("b.jpg", "is empty.")]))
    np.testing.assert_array_equal(abc.images.present, [True, False, True])
