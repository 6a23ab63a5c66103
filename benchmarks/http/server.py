"""The receiver that both sides deliver to: a process of its own, so that it costs them nothing."""

import asyncio
import sys

from aiohttp import web


async def receive(request: web.Request) -> web.Response:
    """Take the body, say yes."""
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
