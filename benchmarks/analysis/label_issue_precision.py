"""Precision of the label issues that are offered for review, with a noisy simulated annotator.

`Likewise` asks, the annotator is sometimes wrong, training follows every five answers, and nothing
is asked twice. Reports how many answers in ``label_issues_`` are wrong::

    python -m benchmarks.analysis.label_issue_precision --dataset cards --data DIR/cards --by suit
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.analysis.run_arguments import named_run, run_parser
from likewise.estimators.kernel.likewise import Likewise
from likewise.oracles.base import Oracle
from likewise_bench.evaluation import GroundTruth
from likewise_bench.inputs import make_inputs
from likewise_bench.runner import load
from likewise_bench.spec import RunSpec, split_parts

_A_TRAINING = 5  # answers


def answered_model(model: Likewise, X: object, oracle: Oracle, n_answers: int) -> Likewise:
    """Return the model after `n_answers` answers."""
    model.start(X)
    for _ in range(n_answers // _A_TRAINING):
        for _ in range(_A_TRAINING):
            questions = model.ask(1)
            model.tell(questions, oracle.answer(questions))
        model.train()
    return model


def count(model: Likewise, truth: Oracle) -> tuple[int, int, int]:
    """Return the number of label issues, of wrong ones among them, and of wrong answers in all."""
    said = model.constraints_.answers
    right = truth.answer([answer.question for answer in said.values()])
    wrong = {n for n, meant in zip(said, right, strict=True) if said[n].answer != meant.answer}
    again = [issue.answer_id for issue in model.label_issues_]
    return len(again), len(wrong.intersection(again)), len(wrong)


def offered(run: RunSpec) -> dict[str, Any]:
    """Return one row with the counts of `count`."""
    dataset = load(run)
    truth = GroundTruth(dataset, run.criterion, split_parts(run, dataset))
    inputs = make_inputs(run, dataset, truth.parts)
    model = Likewise(truth.n_values, kinds="pair,choice", random_state=run.seed)
    answered_model(model, inputs.train, truth.oracle(run), run.n_questions)
    n_offered, n_found, n_wrong = count(model, truth.oracle(replace(run, noise=0.0)))
    return {
        "dataset": dataset.name,
        "criterion": truth.criterion,
        "seed": run.seed,
        "n_answers": run.n_questions,
        "noise": run.noise,
        "wrong": n_wrong,
        "offered": n_offered,
        "wrong_among_offered": n_found,
    }


def main(words: Sequence[str] | None = None) -> None:
    """Print one JSON object per seed."""
    parser = run_parser(__doc__)
    parser.set_defaults(method="likewise")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args(words)
    for seed in range(given.seeds):
        run = named_run(given, n_questions=given.questions, noise=given.noise, seed=seed)
        sys.stdout.write(json.dumps(offered(run)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
