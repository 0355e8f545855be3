"""Server-sent events: the page hears what changed, and asks for what it shows."""

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from likewise.workspace.worker_process import Message
from likewise.workspace.workspace import Workspace

CLOSING = "closing"  # ends every stream
_HEARTBEAT = 10.0  # seconds; finds out who went away
_MOST_WAITING = 100
_PAUSE = 0.1  # seconds between two pieces of news: many people answering are one


def news(workspace: Workspace) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api")

    @router.get("/events", response_class=StreamingResponse)
    async def events() -> StreamingResponse:
        """Stream what happens: ``answers``, ``training``, ``trained``, ``died``, ..."""
        return StreamingResponse(_stream(workspace), media_type="text/event-stream")

    return router


class Mailbox:
    """News for one page, put in from any thread; of equal news that wait one is enough."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Message] = asyncio.Queue(_MOST_WAITING)
        self._latest: Message | None = None

    def hear(self, message: Message) -> None:
        """Put in a message."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: Message) -> None:
        is_known = message == self._latest and not self._waiting.empty()
        if not is_known and not self._waiting.full():  # a page that sleeps asks anew
            self._latest = message
            self._waiting.put_nowait(message)

    async def next(self) -> Message | None:
        """Return the next message, None if there is none for a while."""
        try:
            return await asyncio.wait_for(self._waiting.get(), _HEARTBEAT)
        except TimeoutError:
            return None


async def _stream(workspace: Workspace) -> AsyncIterator[str]:
    box = Mailbox()
    stop = workspace.events.subscribe(box.hear)
    try:
        yield _event(workspace.worker_state)
        while True:
            message = await box.next()
            yield ": still here\n\n" if message is None else _event(message)
            if message is not None and message["event"] == CLOSING:
                return
            await asyncio.sleep(_PAUSE)
    finally:
        stop()


def _event(message: Message) -> str:
    return f"event: {message['event']}\ndata: {json.dumps(message)}\n\n"
