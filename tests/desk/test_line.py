from likewise.constraints.question import Question
from likewise.desk.line import QuestionLine

PAIRS = [Question.pair(0, i) for i in range(1, 6)]


def same(question: Question) -> Question | None:
    return question


def test_the_best_question_comes_first() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    assert line.hand_out(2, "ada", same) == PAIRS[:2]


def test_a_question_stays_in_hand_until_it_is_answered() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    line.hand_out(2, "ada", same)
    assert line.hand_out(2, "ada", same) == PAIRS[:2]
    line.done(PAIRS[0])
    assert line.hand_out(2, "ada", same) == [PAIRS[1], PAIRS[2]]


def test_two_people_get_different_questions() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    ada, bob = line.hand_out(2, "ada", same), line.hand_out(2, "bob", same)
    assert not set(ada) & set(bob)


def test_fresh_questions_are_not_those_another_person_holds() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    line.hand_out(2, "ada", same)
    line.fill(PAIRS)
    assert line.hand_out(9, "bob", same) == PAIRS[2:]


def test_a_question_nobody_answers_goes_to_somebody_else_in_the_end() -> None:
    now = [0.0]
    line = QuestionLine(clock=lambda: now[0])
    line.fill(PAIRS[:1])
    line.hand_out(1, "ada", same)
    line.fill(PAIRS[:1])
    assert line.hand_out(1, "bob", same) == []
    now[0] = 121.0
    line.fill(PAIRS[:1])
    assert line.hand_out(1, "bob", same) == PAIRS[:1]


def test_what_is_settled_meanwhile_is_dropped_also_from_hands() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    line.hand_out(3, "ada", same)
    open_now = [PAIRS[2], PAIRS[4]]
    found = line.hand_out(3, "ada", lambda one: one if one in open_now else None)
    assert found == open_now


def test_a_question_in_hand_is_put_anew_from_how_it_was_thought_of() -> None:
    line = QuestionLine()
    line.fill([Question.choice(0, (1, 2), ("a", "b"))])
    (wider,) = line.hand_out(1, "ada", lambda _: Question.choice(0, (1, 2, 3), ("a", "b", "c")))
    assert line.hand_out(1, "ada", same) == [Question.choice(0, (1, 2), ("a", "b"))]
    line.hand_out(1, "ada", lambda _: wider)
    line.done(wider)
    line.ask_again(wider, "ada")
    assert line.hand_out(1, "ada", same) == [Question.choice(0, (1, 2), ("a", "b"))]


def test_what_is_asked_again_is_first_and_in_one_hand_only() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    line.hand_out(2, "ada", same)
    line.done(PAIRS[0])
    line.hand_out(1, "bob", same)
    line.ask_again(PAIRS[0], "ada")
    assert line.hand_out(3, "ada", same) == [PAIRS[0], PAIRS[1], PAIRS[3]]
    line.ask_again(PAIRS[1], "bob")
    assert line.hand_out(1, "bob", same) == [PAIRS[1]]
    assert PAIRS[1] not in line.hand_out(9, "ada", same)


def test_only_the_last_questions_are_remembered() -> None:
    line = QuestionLine()
    for i in range(1, 70):
        line.done(Question.pair(0, i))
    assert len(line._past) == 64
    assert (0, 69) in line._past


def test_a_change_may_jump_the_line() -> None:
    line = QuestionLine()
    line.fill(PAIRS)
    assert line.hand_out(1, "ada", same, prefer=lambda one: one == PAIRS[3]) == [PAIRS[3]]
