"""How many of the answers that a person is offered again are wrong, and how many there are.

Answers come as on the page: `Likewise` asks, someone answers who is wrong now and then, training
follows every five answers, and nothing is asked twice. At the end stand the answers in `suspects_`:
``python -m likewise.benchmark.offered cards/suit --data DIR``.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch

from likewise.benchmark.inputs import make_inputs
from likewise.benchmark.judge import Judge
from likewise.benchmark.protocol import Run, divide
from likewise.benchmark.run import load
from likewise.methods.likewise import Likewise
from likewise.oracles.oracle import Oracle

_A_TRAINING = 5  # answers


def interviewed(model: Likewise, X: object, oracle: Oracle, n_answers: int) -> Likewise:
    """Return the model after so many answers."""
    model.start(X)
    for _ in range(n_answers // _A_TRAINING):
        for _ in range(_A_TRAINING):
            questions = model.ask(1)
            model.tell(questions, oracle.answer(questions))
        model.train()
    return model


def count(model: Likewise, truth: Oracle) -> tuple[int, int, int]:
    """Return how many answers are offered again, how many of these are wrong, and how many are."""
    said = model.constraints_.answers
    right = truth.answer([answer.question for answer in said.values()])
    wrong = {n for n, meant in zip(said, right, strict=True) if said[n].answer != meant.answer}
    offered = [suspect.answer for suspect in model.suspects_]
    return len(offered), len(wrong.intersection(offered)), len(wrong)


def main() -> None:
    """Print a row for each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="SET/ORIENTATION")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the sets")
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name, orientation in (one.split("/") for one in given.sets):
        place = str(given.data / name)
        clean = Run("likewise", name, place, orientation=orientation, n_questions=0)
        dataset = load(clean)
        judge = Judge(dataset, orientation, divide(clean, dataset))
        inputs = make_inputs(clean, dataset, judge.parts)
        for seed in given.seeds:
            model = Likewise(judge.n_values, random_state=seed)
            oracle = judge.oracle(replace(clean, noise=given.noise, seed=seed))
            interviewed(model, inputs.train, oracle, given.answers)
            offered, found, wrong = count(model, judge.oracle(clean))
            row = f"{offered} offered, of which {found} are wrong, as are {wrong} of all"
            sys.stdout.write(f"{name}/{orientation}, seed {seed}: {row}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
