"""Past one machine: embedding with one and two Ray workers, and a session of 10^7 vectors.

python -m benchmarks.speed_scale embed --images 800
python -m benchmarks.speed_scale vectors --rows 10000000 --place /tmp/vectors
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.load_test import ApiClient
from likewise.embedding.shards import Shard, ShardFolder, plan
from likewise.random_streams import stream

_SIDE = (1024, 768)
_WIDTH, _CLUSTERS, _PER_SHARD = 64, 10, 40_960
_ANSWERS = 40


def make_photos(folder: Path, n_images: int) -> None:
    """Write JPEG files of 1024 x 768 pixels."""
    rng = stream(0, "photos")
    for number in range(n_images):
        small = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8))
        small.resize(_SIDE).save(folder / f"{number:06}.jpg", quality=90)


def embed(n_images: int) -> None:
    """Print images per second of one and of two workers, with Ray and the models started."""
    priority = "RAY_worker_niceness"  # by default workers give way to all other processes
    os.environ[priority] = "0"
    import ray

    from likewise.embedding.ray_engine import connected, run_ray
    from likewise.embedding.shard_run import EmbedTask
    from likewise.images.encoded import FilesBelow

    with tempfile.TemporaryDirectory() as place:
        photos = Path(place, "photos")
        photos.mkdir()
        make_photos(photos, n_images)
        files = FilesBelow(str(photos))
        names, _ = files.images()
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        rates: dict[int, list[float]] = {1: [], 2: []}
        cpu: dict[int, list[float]] = {1: [], 2: []}  # seconds for an image
        with connected(2, 0):
            for repeat in range(3):
                for n_workers in (1, 2):
                    out = ShardFolder(str(Path(place, f"{repeat}-{n_workers}")))
                    out.create()
                    parts = list(plan(names, 8))
                    warm, rest = parts[:n_workers], parts[n_workers:]
                    done = run_ray(EmbedTask(files, "bundled"), [*warm, *rest], out, n_workers)
                    for _ in warm:
                        next(done)
                    start, used, n = time.perf_counter(), _worker_seconds(), 0
                    for one in done:  # the workers end with the last one
                        n += getattr(one, "n_rows", 0)
                        seconds, spent = time.perf_counter() - start, _worker_seconds() - used
                    rates[n_workers].append(n / seconds)
                    cpu[n_workers].append(spent / n)
        ray.shutdown()
    means = {n: float(np.mean(rate)) for n, rate in rates.items()}
    print(f"{n_images} images of {_SIDE[0]} x {_SIDE[1]}, load {os.getloadavg()[0]:.1f}")
    ratio = means[2] / means[1]
    print(f"one worker {means[1]:.1f}/s, two workers {means[2]:.1f}/s: {ratio:.2f} times")
    first, second = (1000 * float(np.mean(cpu[n])) for n in (1, 2))
    print(f"processor time of an image: one worker {first:.1f} ms, two workers {second:.1f} ms")


def _worker_seconds() -> float:
    """Return the processor time of all workers so far (Linux)."""
    ticks = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if b"_Worker" in (place / "cmdline").read_bytes():
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        except OSError:  # it has ended
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def make_vectors(place: str, n_rows: int) -> None:
    """Write shards of vectors in ten clusters; each name ends with the cluster."""
    import pyarrow as pa

    folder, rng = ShardFolder(place), stream(0, "vectors")
    folder.create()
    centers = rng.standard_normal((_CLUSTERS, _WIDTH), dtype=np.float32)
    for at in range(0, n_rows, _PER_SHARD):
        n = min(_PER_SHARD, n_rows - at)
        clusters = rng.integers(_CLUSTERS, size=n)
        rows = 0.8 * rng.standard_normal((n, _WIDTH), dtype=np.float32) + centers[clusters]
        digits = rng.bytes(32 * n).hex()
        columns = {
            "name": [f"{at + i:08}-{one}" for i, one in enumerate(clusters)],
            "hash": [digits[64 * i : 64 * i + 64] for i in range(n)],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), _WIDTH),
        }
        made_by = {"encoder": "synthetic", "blocks": [["all", _WIDTH]]}
        folder.write(columns["name"], Shard(columns), made_by)


def vectors(place: str, n_rows: int) -> None:
    """Print how long a session of many vectors takes to open, to ask, and its memory."""
    if not Path(place).exists():
        make_vectors(place, n_rows)
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder, "v.likewise")
        for what in ("created", "opened again"):
            start = time.perf_counter()
            process = _start(place, session)
            try:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                opened = time.perf_counter() - start
                print(f"{what}: page after {opened:.1f} s", end=", ", flush=True)
                _answer(ApiClient(address), process.pid)
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(60)


def _start(place: str, session: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "likewise", "start", "--vectors", place, "--no-browser"]
    options = ["--session", str(session), "--by", "kind", "-k", str(_CLUSTERS)]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)


def _answer(call: ApiClient, process: int) -> None:
    """Answer, and print the time from an answer to the next question, and the memory."""
    questions = call("GET", "/api/questions?n=1")["questions"]
    waits = []
    for _ in range(_ANSWERS):
        body: dict[str, Any] = {"question": questions[0], **_right_answer(questions[0])}
        start = time.perf_counter()
        questions = call("POST", "/api/answers", body)["questions"]
        waits.append(time.perf_counter() - start)
    while call("GET", "/api/status")["n_answers_trained"] < _ANSWERS:
        time.sleep(0.5)
    memory = sum(_peak_memory(one) for one in (process, *_children(process)))
    p95 = 1000 * np.percentile(waits, 95)
    print(f"next question {p95:.0f} ms p95, peak memory {memory:,.0f} MB")


def _children(process: int) -> list[int]:
    """Return the worker of a server (Linux)."""
    place = Path(f"/proc/{process}/task")
    return [int(one) for task in place.iterdir() for one in (task / "children").read_text().split()]


def _peak_memory(process: int) -> float:
    """Return the peak resident memory in MB (Linux)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1000 if found else 0.0


def _right_answer(question: dict[str, Any]) -> dict[str, Any]:
    first, *others = (name.rpartition("-")[2] for name in question["names"])
    if question["kind"] == "pair":
        return {"answer": "same" if first == others[0] else "different"}
    if question["kind"] == "grid":
        *asked, shown = (name.rpartition("-")[2] for name in question["names"])
        images = zip(question["images"], asked, strict=False)
        return {"answer": "ticked", "ticked": [image for image, one in images if one != shown]}
    groups = zip(question["groups"], others, strict=True)
    return {"answer": next((group for group, other in groups if other == first), "none")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("embed").add_argument("--images", type=int, default=800)
    many = commands.add_parser("vectors")
    many.add_argument("--rows", type=int, default=10_000_000)
    many.add_argument("--place", default="build/vectors")
    given = parser.parse_args()
    if given.command == "embed":
        embed(given.images)
    else:
        vectors(given.place, given.rows)


if __name__ == "__main__":
    main()
