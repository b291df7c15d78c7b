"""One HTTP request on the event loop, each on a connection of its own. No proxies, no redirects, nothing kept."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from sayso import untrusted_json
from sayso.http_replies import reply_in

MOST_BYTES = 4 * 1024 * 1024
_CHUNK = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Response:
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    @property
    def data(self) -> Mapping[str, Any]:
        """The object in it; empty where there is none."""
        try:
            data = untrusted_json.loads(self.body)
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}


async def fetch(
    method: str,
    url: str,
    *,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    body: object = None,
    seconds: float,
) -> Response:
    """The response to a request, with a body of JSON where one is given. OSError where there is none in time."""
    content = b"" if body is None else json.dumps(body).encode()
    target = urlsplit(url)
    about = {**headers, "Host": target.netloc, "Accept": "application/json", "Connection": "close"}
    if body is not None:
        about |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
    lines = [
        f"{method} {target.path}?{urlencode(query)} HTTP/1.1",
        *(f"{name}: {value}" for name, value in about.items()),
    ]
    if any(character in line for line in lines for character in "\r\n"):
        raise OSError("a header with a line break")
    request = "\r\n".join([*lines, "", ""]).encode() + content
    async with asyncio.timeout(seconds):
        return _parsed(await _exchanged(target.hostname or "", target.port, target.scheme == "https", request))


async def _exchanged(host: str, port: int | None, secured: bool, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port or (443 if secured else 80), ssl=secured or None)
    try:
        writer.write(request)
        await writer.drain()
        received = bytearray()
        while chunk := await reader.read(_CHUNK):
            received += chunk
            if len(received) > MOST_BYTES:
                raise OSError(f"a response of over {MOST_BYTES:,} bytes")
        return bytes(received)
    finally:
        writer.close()


def _parsed(received: bytes) -> Response:
    try:
        response = reply_in(received)
        return Response(status=response.status, body=response.read())
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP response ({error or type(error).__name__})") from error
