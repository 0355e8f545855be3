"""Server-sent events: the page hears what changed, and asks for what it shows."""

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from likewise.desk.desk import Desk
from likewise.desk.messages import Message

CLOSING = "closing"  # ends every stream
_HEARTBEAT = 10.0  # seconds; finds out who went away
_MOST_WAITING = 100


def news(desk: Desk) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api")

    @router.get("/events", response_class=StreamingResponse)
    async def events() -> StreamingResponse:
        """Stream what happens: ``answers``, ``training``, ``trained``, ``died``, ..."""
        return StreamingResponse(_stream(desk), media_type="text/event-stream")

    return router


async def _stream(desk: Desk) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Message] = asyncio.Queue(_MOST_WAITING)

    def put(message: Message) -> None:
        if not waiting.full():  # a page that sleeps asks anew when it wakes
            waiting.put_nowait(message)

    def hear(message: Message) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(put, message)

    stop = desk.listen(hear)
    try:
        yield _event(desk.state)
        while True:
            try:
                message = await asyncio.wait_for(waiting.get(), _HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            yield _event(message)
            if message["event"] == CLOSING:
                return
    finally:
        stop()


def _event(message: Message) -> str:
    return f"event: {message['event']}\ndata: {json.dumps(message)}\n\n"
