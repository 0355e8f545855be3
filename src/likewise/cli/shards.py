"""Sharded runs of `likewise embed` and `likewise predict`: options, engine, progress, summary."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import (
    ProgressBars,
    count_noun,
    print_json,
    print_line,
    print_note,
    print_note_list,
)
from likewise.errors import CollectionError, InvalidParameterError, LikewiseError

if TYPE_CHECKING:
    from likewise.embedding.shard_run import Failed, Finished, ShardTask
    from likewise.embedding.shards import ShardFolder
    from likewise.images.collection import Skipped
    from likewise.images.encoded import FilesBelow

    Run = Callable[[ShardTask, Iterable[Sequence[str]], ShardFolder], Iterator[Finished | Failed]]

EngineName = Annotated[
    str,
    typer.Option(
        "--engine", metavar="local|ray", help="ray: many processes or machines ($RAY_ADDRESS)."
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Ray workers; default: all processors.")
]
GpusPerWorker = Annotated[
    float, typer.Option("--gpus-per-worker", min=0, help="GPUs of each Ray worker; may be 0.5.")
]
_MAX_LISTED = 1000  # skipped images in the output of --json


class Engine:
    """Where shards are computed.

    Parameters
    ----------
    name : {"local", "ray"}
    n_workers : int, optional
    gpus : float
        Of each worker.
    places : sequence of str
        Folders and addresses that the workers read and write.
    """

    def __init__(
        self, name: str, n_workers: int | None, gpus: float = 0, places: Sequence[str] = ()
    ) -> None:
        from likewise.embedding.shard_run import check_engine

        check_engine(name)
        place = next((one for one in places if one.startswith("memory://")), None)
        if name == "ray" and place is not None:
            raise CollectionError(
                f"{place} exists in this process only, so the workers of Ray cannot use it; use "
                "--engine local, or an address that all machines can reach."
            )
        if name == "local" and (n_workers or gpus):
            raise InvalidParameterError(
                "--workers and --gpus-per-worker need --engine ray; the local engine uses all "
                "cores of this machine."
            )
        self.name, self._n_workers, self._gpus = name, n_workers, gpus

    @contextmanager
    def open(self) -> "Iterator[tuple[int, Run]]":
        """Yield the number of workers and the function that runs a task."""
        if self.name == "local":
            from likewise.embedding.shard_run import run_local

            yield 1, run_local
            return
        from likewise.embedding.ray_engine import connected, run_ray

        with connected(self._n_workers, self._gpus) as n_workers:

            def run(
                task: "ShardTask", parts: Iterable[Sequence[str]], out: "ShardFolder"
            ) -> "Iterator[Finished | Failed]":
                return run_ray(task, parts, out, n_workers, self._gpus)

            yield n_workers, run


def image_names(source: str) -> "tuple[FilesBelow, list[str], list[Skipped]]":
    """Return the files below a folder or address, the names of the images, and those skipped.

    Raises
    ------
    CollectionError
        If the source is neither, or has no images.
    """
    from pathlib import Path

    from likewise.cli.sessions import check_image_folder
    from likewise.images.encoded import FilesBelow

    files = FilesBelow(source)
    check_image_folder(Path(source), "embed", takes_session=False)
    names, skipped = files.images()
    return files, names, skipped


def compute_shards(
    engine: Engine,
    task: "ShardTask",
    inputs: "Sequence[str]",
    out: "ShardFolder",
    what: str,
    *,
    one_by_one: bool = False,
) -> dict[str, Any]:
    """Compute the shards that are missing; return the counts and the skipped images.

    Parameters
    ----------
    engine : Engine
    task : ShardTask
    inputs : sequence of str
        Names of images; with `one_by_one` of files that become one shard each.
    out : ShardFolder
    what : str
        Title of the progress bar.

    Raises
    ------
    LikewiseError
        If the workers of some shards died; all other shards are written.
    """
    from likewise.embedding.shard_run import Failed
    from likewise.embedding.shards import plan

    out.create()
    before = out.written(task.made_by)
    for name in before.damaged:
        print_note(f"Note: {name} in {out.place} is damaged; its images are computed again.")
        out.delete(name)
    open_inputs = [name for name in inputs if name not in before.inputs]
    n_rows, skipped, failed = before.n_rows, list(before.skipped), list[Failed]()
    if len(open_inputs) < len(inputs):
        print_note(f"Continuing: {count_noun(before.n_rows, 'row')} in {out.place} are kept.")
    with engine.open() as (n_workers, run), ProgressBars() as bars:
        update, n_done = bars.step(what), len(inputs) - len(open_inputs)
        parts = ([one] for one in open_inputs) if one_by_one else plan(open_inputs, n_workers)
        update(n_done, len(inputs))
        for end in run(task, parts, out):
            if isinstance(end, Failed):
                failed.append(end)
                continue
            n_rows, n_done = n_rows + end.n_rows, n_done + end.n_inputs
            skipped += end.skipped
            update(n_done, len(inputs))
    _raise_failed(failed)
    if not n_rows and not one_by_one:
        raise CollectionError(
            f"None of the {len(inputs):,} images can be read; choose another source. "
            f"The first: {skipped[0] if skipped else ''}"
        )
    return {
        "out": out.place,
        "n_images": n_rows,
        "n_new": n_rows - before.n_rows,
        "n_skipped": len(skipped),
        "skipped": skipped,
    }


def _raise_failed(failed: "Sequence[Failed]") -> None:
    if not failed:
        return
    names = [name for one in failed for name in one.inputs]
    print_note_list("Not computed:", names)
    raise LikewiseError(
        f"{count_noun(len(failed), 'shard')} with {count_noun(len(names), 'image')} could not be "
        f"computed: {failed[0].reason}; one of these images may crash the decoder, or the memory "
        "of the machine is too small. All others are written. Remove the image, or run the "
        "command again on a machine with more memory."
    )


def print_result(result: Mapping[str, Any], noun: str, *, as_json: bool) -> None:
    """Print the counts of `compute_shards`, and list what was skipped."""
    from likewise.cli.sessions import print_skipped, skipped_as_json

    skipped: Sequence[Skipped] = result["skipped"]
    print_skipped(skipped)
    if as_json:
        print_json({**result, "skipped": skipped_as_json(skipped[:_MAX_LISTED])})
    else:
        print_line(
            f"{count_noun(result['n_images'], noun)} in {result['out']} "
            f"({result['n_new']:,} new, {result['n_skipped']:,} skipped)"
        )
