from likewise.constraints.question import Question
from likewise.workspace.question_queue import WaitingQuestions

PAIRS = [Question.pair(0, i) for i in range(1, 6)]


def same(question: Question) -> Question | None:
    return question


def test_the_best_question_comes_first() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    assert line.take(2, "ada", same) == PAIRS[:2]


def test_a_question_stays_in_hand_until_it_is_answered() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    line.take(2, "ada", same)
    assert line.take(2, "ada", same) == PAIRS[:2]
    line.remove(PAIRS[0])
    assert line.take(2, "ada", same) == [PAIRS[1], PAIRS[2]]


def test_two_people_get_different_questions() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    ada, bob = line.take(2, "ada", same), line.hand_out(2, "bob", same)
    assert not set(ada) & set(bob)


def test_fresh_questions_are_not_those_another_person_holds() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    line.take(2, "ada", same)
    line.fill(PAIRS)
    assert line.take(9, "bob", same) == PAIRS[2:]


def test_a_question_nobody_answers_goes_to_somebody_else_in_the_end() -> None:
    now = [0.0]
    line = WaitingQuestions(clock=lambda: now[0])
    line.fill(PAIRS[:1])
    line.take(1, "ada", same)
    line.fill(PAIRS[:1])
    assert line.take(1, "bob", same) == []
    now[0] = 121.0
    line.fill(PAIRS[:1])
    assert line.take(1, "bob", same) == PAIRS[:1]


def test_what_is_settled_meanwhile_is_dropped_also_from_hands() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    line.take(3, "ada", same)
    open_now = [PAIRS[2], PAIRS[4]]
    found = line.take(3, "ada", lambda one: one if one in open_now else None)
    assert found == open_now


def test_a_question_in_hand_is_put_anew_from_how_it_was_thought_of() -> None:
    line = WaitingQuestions()
    line.fill([Question.choice(0, (1, 2), ("a", "b"))])
    (wider,) = line.take(1, "ada", lambda _: Question.choice(0, (1, 2, 3), ("a", "b", "c")))
    assert line.take(1, "ada", same) == [Question.choice(0, (1, 2), ("a", "b"))]
    line.take(1, "ada", lambda _: wider)
    line.remove(wider)
    line.put_back(wider, "ada")
    assert line.take(1, "ada", same) == [Question.choice(0, (1, 2), ("a", "b"))]


def test_what_is_asked_again_is_first_and_in_one_hand_only() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    line.take(2, "ada", same)
    line.remove(PAIRS[0])
    line.take(1, "bob", same)
    line.put_back(PAIRS[0], "ada")
    assert line.take(3, "ada", same) == [PAIRS[0], PAIRS[1], PAIRS[3]]
    line.put_back(PAIRS[1], "bob")
    assert line.take(1, "bob", same) == [PAIRS[1]]
    assert PAIRS[1] not in line.take(9, "ada", same)


def test_only_the_last_questions_are_remembered() -> None:
    line = WaitingQuestions()
    for i in range(1, 70):
        line.remove(Question.pair(0, i))
    assert len(line._answered) == 64
    assert (0, 69) in line._answered


def test_a_change_may_jump_the_line() -> None:
    line = WaitingQuestions()
    line.fill(PAIRS)
    assert line.take(1, "ada", same, prefer=lambda one: one == PAIRS[3]) == [PAIRS[3]]
