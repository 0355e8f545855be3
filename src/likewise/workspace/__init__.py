"""An open session: criteria, question queue, training worker, gallery; used by the server.

The path of an answer: `CriterionSession.answer` (`criterion.py`) writes it to disk with
`Session.tell_all`, which also adds it to the constraint graph; `Workspace` (`workspace.py`) asks
the worker process (`worker.py`, `worker_process.py`) to train; `TrainingJob.run`
(`training_job.py`) reads the new answers, trains, and saves the results (`cluster_matching.py`);
its message ``trained`` makes `Status` (`status.py`) load them. The section "The path of an answer"
in ``docs/development/architecture.md`` lists all steps.
"""
