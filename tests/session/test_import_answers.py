import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from likewise.constraints.question import RESERVED, Answer, Question
from likewise.errors import AnswersFileError, SessionError
from likewise.session import Session, answer_lines, export_answers, import_answers
from tests.session.pictures import content_hash, pictures


def pair(first: int, second: int, answer: str = "same", **more: Any) -> Answer:
    return Answer(Question.pair(first, second), answer, **more)


def line(first: int, second: int, answer: str = "same", **more: Any) -> str:
    fields = {
        "kind": "pair",
        "images": [content_hash(str(first)), content_hash(str(second))],
        "answer": answer,
        "group": None,
        "criterion": "season",
        "who": "ann",
        "at": "2026-01-01T00:00:00Z",
        "seconds": 1.5,
    }
    return json.dumps({**fields, **more})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def said(session: Session, criterion: str = "season") -> list[tuple[tuple[int, ...], str]]:
    answers = map(session.as_answer, session.answers(criterion))
    return [(answer.question.images, answer.answer) for answer in answers]


printable = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))
words = st.text(printable, min_size=1).filter(lambda text: text.strip() and text not in RESERVED)
answers = st.one_of(
    st.builds(
        lambda i, j, said, who: pair(i, j, said, who=who),
        st.integers(0, 9),
        st.integers(10, 19),
        st.sampled_from(["same", "different", "cannot_tell", "bad_image"]),
        st.text(printable),
    ),
    st.builds(lambda i, name: Answer(Question.label(i), name), st.integers(0, 19), words),
    st.builds(
        lambda i, a, b, s: Answer(Question.choice(i, (10, 11), (a, b)), s or a, seconds=0.1),
        st.integers(0, 9),
        words.map(lambda w: "1" + w),
        words.map(lambda w: "2" + w),
        st.sampled_from([None, "none", "new", "cannot_tell"]),
    ),
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(answers, max_size=8))
def test_a_session_can_be_carried_to_another_and_answers_the_same(
    tmp_path_factory: pytest.TempPathFactory, given_answers: list[Answer]
) -> None:
    folder = tmp_path_factory.mktemp("carry")
    with (
        Session.create(folder / "a", pictures(20)) as ours,
        Session.create(folder / "b", pictures(20)) as theirs,
    ):
        ours.add_criterion("season")
        theirs.add_criterion("season")
        ours.tell_all(given_answers)
        n = export_answers(ours, folder / "out.jsonl")
        done = import_answers(theirs, folder / "out.jsonl", strict=False)
        aside = set(ours.graph("season").conflicts)
        kept = [entry for entry in ours.answers("season") if entry.id not in aside]
        lines = [entry.line("season") for entry in kept]
        unique = [one for i, one in enumerate(lines) if one not in lines[:i]]
        assert [entry.line("season") for entry in theirs.answers("season")] == unique
        assert n == len(given_answers) == done.n_imported + done.n_duplicates + len(done.problems)
        assert import_answers(theirs, folder / "out.jsonl", strict=False).n_imported == 0


def test_only_active_answers_are_exported(session: Session, file: Path) -> None:
    session.tell_all([pair(0, 1), pair(1, 2), pair(2, 3)])
    session.undo("season")
    session.add_criterion("mood")
    session.tell(pair(4, 5, criterion="mood"))
    assert export_answers(session, file, "season") == 2
    images = [json.loads(text)["images"] for text in file.read_text().splitlines()]
    assert images == [[content_hash(str(i)), content_hash(str(i + 1))] for i in range(2)]
    assert [json.loads(text)["criterion"] for text in answer_lines(session)] == [
        "season",
        "season",
        "mood",
    ]


def test_an_existing_file_is_not_overwritten(session: Session, file: Path) -> None:
    file.write_text("mine")
    with pytest.raises(SessionError, match="already exists and was not overwritten"):
        export_answers(session, file)
    assert file.read_text() == "mine"


BAD_LINES = {
    "is not JSON": "{",
    "must be a JSON object, got list": "[]",
    "contradicts earlier answers .0.jpg = 1.jpg, 1.jpg = 2.jpg.": line(0, 2, "different"),
    "'saeson' is not a known criterion": line(5, 6, criterion="saeson"),
    content_hash("nowhere")[:8]: line(5, 6, images=[content_hash("nowhere"), content_hash("1")]),
    "lone surrogate": line(5, 6, who="\ud800"),
    "must be different": line(5, 5),
}


@pytest.mark.parametrize("reason", BAD_LINES)
def test_one_bad_line_is_named_and_the_rest_imported_or_nothing(
    reason: str, session: Session, file: Path
) -> None:
    good = [line(0, 1), line(1, 2), line(7, 8, "different")]
    file.write_text("\n".join([*good[:2], "", BAD_LINES[reason], good[2]]) + "\n")
    message = rf"(?s)1 of the 4 lines .* nothing was imported.*line 4: .*{reason}"
    with pytest.raises(AnswersFileError, match=message):
        import_answers(session, file)
    assert session.entries("season") == []
    done = import_answers(session, file, strict=False)
    assert (done.n_imported, [problem.line for problem in done.problems]) == (3, [4])
    assert said(session) == [((0, 1), "same"), ((1, 2), "same"), ((7, 8), "different")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ["kind", "images", "answer", "group", "groups", "criterion", "who", "at", "seconds"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), json_values), st.booleans())
def test_a_line_of_any_rubbish_is_a_problem_and_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, rubbish: dict[str, Any], dropped: bool
) -> None:
    folder = tmp_path_factory.mktemp("rubbish")
    fields = json.loads(line(0, 1))
    for name, value in rubbish.items():
        if dropped and name in ("kind", "images", "answer"):
            del fields[name]
        else:
            fields[name] = value
    (folder / "in.jsonl").write_text(json.dumps(fields))
    with Session.create(folder / "s", pictures(3)) as session:
        session.add_criterion("season")
        done = import_answers(session, folder / "in.jsonl", strict=False)
        assert done.n_imported + len(done.problems) == 1
        assert len(session.answers("season")) == done.n_imported
    with Session.open(folder / "s") as session:
        assert session.graph("season").n_answers == done.n_imported


def test_bytes_that_are_not_text_are_a_problem(session: Session, file: Path) -> None:
    file.write_bytes(line(0, 1).encode() + b"\n\xff\xfe\n" + line(1, 2).encode())
    done = import_answers(session, file, strict=False)
    assert (done.n_imported, done.problems[0].line) == (2, 2)


def test_files_from_other_systems_are_read(session: Session, file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + f"{line(0, 1)}\r\n\r\n{line(1, 2)}".encode())
    assert import_answers(session, file).n_imported == 2


def test_a_line_that_is_already_in_the_log_is_not_imported_again(
    session: Session, file: Path
) -> None:
    file.write_text(f"{line(0, 1)}\n{line(0, 1)}\n{line(0, 1, who='bob')}\n")
    first, again = import_answers(session, file), import_answers(session, file)
    assert (first.n_imported, first.n_duplicates) == (2, 1)
    assert (again.n_imported, again.n_duplicates) == (0, 3)
    session.undo("season")
    session.undo("season")
    assert import_answers(session, file).n_imported == 0  # taken back stays taken back
    assert session.answers("season") == []


def test_imported_lines_can_contradict_answers_of_the_session(session: Session, file: Path) -> None:
    session.tell_all([pair(0, 1), pair(1, 2)])
    file.write_text(line(0, 2, "different") + "\n")
    with pytest.raises(AnswersFileError, match="line 1: contradicts earlier answers"):
        import_answers(session, file)
    assert session.graph("season").conflicts == {}


def test_answers_may_be_meant_for_another_criterion(session: Session, file: Path) -> None:
    session.add_criterion("mood")
    file.write_text(line(0, 1) + "\n" + line(1, 2, criterion="elsewhere") + "\n")
    assert import_answers(session, file, into="mood").n_imported == 2
    assert said(session, "mood") == [((0, 1), "same"), ((1, 2), "same")]
    assert session.answers("season") == []


def test_long_lists_of_problems_are_cut_short(session: Session, file: Path) -> None:
    file.write_text("rubbish\n" * 30)
    with pytest.raises(AnswersFileError, match=r"(?s)30 of the 30.*line 10: .*… and 20 more\.$"):
        import_answers(session, file)


def test_a_file_that_is_not_there_is_named(session: Session, file: Path) -> None:
    with pytest.raises(AnswersFileError, match=r"answers.jsonl cannot be read \(No such file"):
        import_answers(session, file)
