"""Progress bars on stderr, with rate and time left."""

from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from likewise.progress import Progress as Tell


class _Rate(ProgressColumn):
    """How many are done a second, or how many seconds one takes."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:,.0f}/s" if speed >= 1 else f"{1 / speed:.1f} s each")


class Bars:
    """One bar a step, shown while inside ``with``.

    Examples
    --------
    >>> with Bars() as bars:
    ...     tell = bars.step("reading pictures")
    ...     tell(1, 10)
    """

    def __init__(self) -> None:
        self._shown = Progress(
            TextColumn("{task.description:<24}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Self:
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()

    def step(self, title: str) -> Tell:
        """Return what a long step calls with the work done and all there is.

        A step that begins again (the next round of a training) begins its bar again.
        """
        task: TaskID | None = None
        last = 0

        def tell(done: int, total: int) -> None:
            nonlocal task, last
            if task is None:
                task = self._shown.add_task(title, total=total)
            elif done < last:
                self._shown.reset(task, total=total)
            self._shown.update(task, completed=done, total=total)
            last = done

        return tell
