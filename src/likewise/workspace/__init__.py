"""A session at work: what the server and the terminal use.

The way of an answer: ``POST /api/answers`` (`server/routes/questions.py`) calls
`CriterionSession.answer` (`criterion.py`), which writes it to the log (`session/log.py`) in one
transaction with others that wait (`GroupCommit`), and applies it to the constraint graph.
`Workspace` (`workspace.py`) then tells the worker process to train (`worker.py`,
`worker_process.py`). `TrainingJob.run` (`training_job.py`) reads the new answers from the log,
trains the model, and saves results (`cluster_matching.py`, `session/results.py`). Its event
``trained`` makes `Status` (`status.py`) load them; `server/events.py` sends it to the page, which
requests the groups again.
"""
