"""An open session folder: where it is, its images, and the ways to sort them."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Self

from likewise.images.collection import ImageCollection
from likewise.session.begin import MODELS, begin_folder, default_root, read_root, write_root
from likewise.session.images import Changes, Images
from likewise.session.orientations import Orientation, Orientations
from likewise.session.replay import Replay
from likewise.session.store import Store


class SessionFolder:
    """What a session is before anything is said in it; `Session` adds the answers.

    Attributes
    ----------
    images : Images
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._orientations = Orientations(store)
        self._replays: dict[int, Replay] = {}
        self.images = Images(store)

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        collection: ImageCollection,
        *,
        root: str | PathLike[str] | None = None,
    ) -> Self:
        """Begin a session in a new folder and open it for writing.

        Parameters
        ----------
        path : path
            The folder to make, by custom ``NAME.likewise``.
        collection : ImageCollection
            Image ``i`` of it is image ``i`` of the session, for good.
        root : path, optional
            The folder its names are relative to, for export. A collection that
            was read from a folder knows it.

        Raises
        ------
        SessionError
            If there is something at `path` already, or it cannot be written.
        """
        begin_folder(Path(path), collection, Path(root) if root is not None else None)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | PathLike[str], *, write: bool = True) -> Self:
        """Open a session, for reading only if `write` is false.

        Raises
        ------
        SessionError
            If there is no session, or it cannot be read or written.
        SessionBusyError
            If another process has it open for writing, and so would we.
        NewerSessionError
            If a newer release wrote it.
        """
        store = Store(Path(path).absolute(), write=write)
        try:
            return cls(store)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Close the session and let the next writer in."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """Return the folder of the session."""
        return self._store.folder

    @property
    def lock(self) -> RLock:
        """Return the lock that every method takes; it may be taken more than once."""
        return self._store.lock

    @property
    def root(self) -> Path | None:
        """Return the folder the pictures are in, or None if they are not files."""
        return read_root(self._store, self.path)

    def sync(self, collection: ImageCollection) -> Changes:
        """Take note of new, renamed, missing and broken pictures; see `Images.sync`."""
        with self.lock:
            root = default_root(collection)
            changes = self.images.sync(collection, root)
            write_root(self._store, self.path, root)
            self._replays.clear()
            return changes

    def reload(self) -> None:
        """Read from disk which pictures there are: another process may have noted others."""
        with self.lock:
            self.images.load()
            self._replays.clear()  # their graphs are about the pictures of before

    @property
    def orientations(self) -> tuple[Orientation, ...]:
        """Return the orientations, the oldest first."""
        return self._orientations.all()

    def orientation(self, name: str = "") -> Orientation:
        """Return the orientation called `name`; the empty name means the only one."""
        return self._orientations.get(name)

    def add_orientation(
        self, name: str, n_clusters: int | None = None, *, two_groups: bool = False
    ) -> Orientation:
        """Add a way to sort the collection.

        Parameters
        ----------
        name : str
            In the person's words: ``"season"``.
        n_clusters : int, optional
            How many groups there are, if that is known.
        two_groups : bool
            Whether two images that both differ from a third are the same.
        """
        with self.lock:
            return self._orientations.add(name, n_clusters, two_groups=two_groups)

    def have_orientation(self, name: str, n_clusters: int | None = None) -> Orientation:
        """Return the orientation called `name`, added if need be, with as many groups as is said.

        A name that differs only in capitals or spaces from a known one is that one.
        """
        with self.lock:
            known, two = self._orientations.find(name), n_clusters == 2
            if known is None:
                return self.add_orientation(name, n_clusters, two_groups=two)
            wanted = replace(known, n_clusters=n_clusters, two_groups=two)
            if n_clusters is None or wanted == known:
                return known
            return self.change_orientation(wanted)

    def change_orientation(self, changed: Orientation) -> Orientation:
        """Keep an orientation under another name, or with another number of groups.

        Give it as ``replace(orientation, name=...)``; its answers stay with it.
        """
        with self.lock:
            return self._orientations.change(changed)

    def model_folder(self, orientation: str) -> Path:
        """Return where an orientation's model and results are kept."""
        return self.path / MODELS / self.orientation(orientation).folder

    def _current(self, orientation: Orientation) -> Replay:
        """Return the state of an orientation, up to date with the disk."""
        if not self._store.write and not self.images.is_current():
            self.reload()  # another process is the writer, and found new pictures
        replay = self._replays.get(orientation.id)
        if replay is None or replay.orientation != orientation:
            replay = Replay(self._store, self.images, orientation)
            self._replays[orientation.id] = replay
        if not self._store.write or replay.n_written != self._store.n_written:
            replay.catch_up()
        return replay
