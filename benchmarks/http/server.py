"""The receiver for both sides, in its own process, so that its cost is not measured."""

import asyncio
import sys

from aiohttp import web


async def receive(request: web.Request) -> web.Response:
    """Read the body and accept."""
    await request.read()
    return web.json_response({"ok": True})


async def main() -> None:
    """Serve on a free port, which is printed, until stdin ends."""
    app = web.Application()
    app.router.add_post("/hook", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
