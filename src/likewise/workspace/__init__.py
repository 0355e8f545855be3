"""A session at work: criteria, question queue, training worker, gallery; used by the server.

The way of one answer, step by step with the functions, is the table "One answer through the
application" in ``docs/development/architecture.md``. In short: `CriterionSession.answer`
(`criterion.py`) writes it to disk by `Session.tell_all`, which also applies it to the constraint
graph; `Workspace` (`workspace.py`) asks the worker process (`worker.py`, `worker_process.py`) to
train; `TrainingJob.run` (`training_job.py`) reads the new answers, trains, and saves the results
(`cluster_matching.py`); its message ``trained`` makes `Status` (`status.py`) load them.
"""
