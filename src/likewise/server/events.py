"""GET /api/events: server-sent events that tell the page that something has changed.

`fastapi.sse` formats the events and sends keep-alive comments. sse-starlette does the same, but is
one more dependency and patches uvicorn's signal handler.
"""

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent

from likewise.workspace.worker_process import Message
from likewise.workspace.workspace import Workspace

CLOSING = "closing"  # the server stops; ends every stream
_MAX_QUEUED = 100
_PAUSE = 0.1  # seconds between two events; equal ones that arrive meanwhile are merged


def events_router(workspace: Workspace) -> APIRouter:
    """Return the route for events."""
    router = APIRouter(tags=["events"])

    @router.get("/events", response_class=EventSourceResponse)
    async def stream_events() -> AsyncIterator[ServerSentEvent]:
        """Stream events; the data of each is a JSON object, with `criterion` if it is about one.

        `answers`, `groups`, `criteria`, `images` and `folder`: these have changed.
        `embedding`, `ready`, `training`, `trained`, `problem` and `worker_exited`: the worker.
        `closing`: the server stops.
        """
        queue = EventQueue()
        unsubscribe = workspace.events.subscribe(queue.put)
        try:
            yield _event(workspace.worker_state)
            while True:
                message = await queue.get()
                yield _event(message)
                if message["event"] == CLOSING:
                    return
                await asyncio.sleep(_PAUSE)
        finally:
            unsubscribe()

    return router


class EventQueue:
    """Events for one client, put in from any thread; repeated events are merged."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Message] = asyncio.Queue(_MAX_QUEUED)
        self._latest: Message | None = None

    def put(self, message: Message) -> None:
        """Add an event."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: Message) -> None:
        is_repeated = message == self._latest and not self._queue.empty()
        # A client that reads too slowly loses events; it requests the state after the next one.
        if not is_repeated and not self._queue.full():
            self._latest = message
            self._queue.put_nowait(message)

    async def get(self) -> Message:
        """Wait for the next event and return it."""
        return await self._queue.get()


def _event(message: Message) -> ServerSentEvent:
    return ServerSentEvent(event=str(message["event"]), data=message)
