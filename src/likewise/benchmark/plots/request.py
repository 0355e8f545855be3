"""What a figure is to be made of: rows of results, or a run to be made."""

from dataclasses import dataclass, field
from typing import Any

from likewise.benchmark.protocol import Run
from likewise.benchmark.sweep.ledger import Row
from likewise.errors import InvalidParameterError, ResultsFileError


@dataclass(frozen=True)
class Request:
    """What was asked for.

    Parameters
    ----------
    kind : str
        Which figure.
    rows : tuple of dict
        Results, where the figure is drawn from them.
    run : Run, optional
        What to run, where the figure shows a run.
    options : mapping
        ``at`` (moments), ``by`` (``tsne`` or ``umap``), ``n`` (how many pictures), ``epochs``.
    """

    kind: str
    rows: tuple[Row, ...] = ()
    run: Run | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def needed_run(self) -> Run:
        """Return the run, or say that there is none."""
        if self.run is None:
            raise InvalidParameterError(
                f"The figure {self.kind!r} shows a run; say which: --dataset or --images with "
                "--labels, --orientation, --method."
            )
        return self.run

    def needed_rows(self) -> tuple[Row, ...]:
        """Return the rows that went well, or say that there are none."""
        rows = tuple(row for row in self.rows if "error" not in row)
        if not rows:
            raise ResultsFileError(
                f"The figure {self.kind!r} is drawn from results, and there are none; name files "
                "of results, made by `likewise bench sweep`."
            )
        return rows
