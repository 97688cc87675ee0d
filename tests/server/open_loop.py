"""Calls that come on time whatever was answered before, as many people who do not know each other make them."""
import asyncio
import json
import time

from serving import Failure, floats


class OpenLoop:
    """Calls of one application over connections that are kept."""

    def __init__(self, server, application):
        self.host, self.port = server.host_and_port
        body = json.dumps(floats(1.0)).encode()
        self.request = (f"POST /v2/models/{application}/infer HTTP/1.1\r\nHost: sluice\r\nX-API-Key: {server.key}\r\n"
                        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
        self.idle, self.answers = [], []  # status and seconds of each call

    async def call(self):
        begin = time.monotonic()
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection(self.host, self.port)
        writer.write(self.request)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length"))
            await reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Failure("a call was not answered") from error
        self.answers.append((int(head.split()[1]), time.monotonic() - begin))
        self.idle.append((reader, writer))

    async def play(self, count, rate):
        clock = asyncio.get_running_loop()
        start, calls = clock.time(), []
        for i in range(count):
            await asyncio.sleep(max(0.0, start + i / rate - clock.time()))
            calls.append(asyncio.create_task(self.call()))
        await asyncio.gather(*calls)
        for _, writer in self.idle:
            writer.close()
        self.idle = []
