"""A push service on loopback, and browsers that subscribe to it and decrypt what comes, as RFC 8291 tells them to."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import os
import queue
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any, ClassVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID

from sayso.public_hosts import Reach

WAIT = 60.0
"""Seconds after which what has not come never will."""


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def data_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class PlayedBrowser:
    """The keys of one browser."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)

    @property
    def p256dh(self) -> str:
        return text(_point(self._private.public_key()))

    @property
    def auth(self) -> str:
        return text(self._auth)

    def decrypted(self, body: bytes) -> bytes:
        salt, size, length = body[:16], int.from_bytes(body[16:20]), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= size
        shared = self._private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        info = b"WebPush: info\0" + _point(self._private.public_key()) + sender + b"\x01"
        start = _mac(salt, _mac(_mac(self._auth, shared), info))
        key = _mac(start, b"Content-Encoding: aes128gcm\0\x01")[:16]
        nonce = _mac(start, b"Content-Encoding: nonce\0\x01")[:12]
        padded = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert padded.endswith(b"\x02")
        return padded[:-1]


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """One message as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(kw_only=True)
class PushService:
    """Takes every message, or says what it was told to say: a status, and after how long to come again."""

    port: int
    context: ssl.SSLContext
    came: queue.Queue[Pushed] = field(default_factory=queue.Queue)
    says: list[tuple[int, str]] = field(default_factory=list)
    holds: dict[str, threading.Event] = field(default_factory=dict)
    """Names of browsers whose messages get no reply before something happens."""
    drips: bytes = b""
    """The whole reply in place of all that, byte after byte."""

    def endpoint(self, name: str) -> str:
        return f"https://localhost:{self.port}/push/{name}"

    @property
    def reach(self) -> Reach:
        """As the product reaches services, but on this machine."""
        return Reach(may_reach=lambda address: ip_address(address).is_loopback, may_call=bool, context=self._context)

    def _context(self) -> ssl.SSLContext:
        return self.context

    def next(self) -> Pushed:
        return self.came.get(timeout=WAIT)

    def next_data(self, browser: PlayedBrowser) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(browser.decrypted(self.next().body))
        return found


@contextmanager
def push_service() -> Iterator[PushService]:
    certificate = certificate_file()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Door)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(certificate)
    server.socket = theirs.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    service = PushService(port=server.server_port, context=ssl.create_default_context(cafile=str(certificate)))
    _Door.services[server.server_port] = service
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join(WAIT)


class _Door(BaseHTTPRequestHandler):
    services: ClassVar[dict[int, PushService]] = {}

    def do_POST(self) -> None:
        service = self.services[self.server.server_address[1]]  # type: ignore[index]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if service.drips:
            self._drip(service.drips)
            return
        if gate := service.holds.get(self.path.rpartition("/")[2]):
            gate.wait(WAIT)
        status, after = service.says.pop(0) if service.says else (201, "")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        headers = {name.lower(): value for name, value in self.headers.items()}
        service.came.put(Pushed(path=self.path, headers=headers, body=body))

    def _drip(self, reply: bytes) -> None:
        self.close_connection, pause = True, threading.Event()
        with suppress(OSError):  # nobody waits for the rest
            for byte in reply:
                self.wfile.write(bytes([byte]))
                pause.wait(0.01)

    def log_message(self, *_: object) -> None:
        pass


def sender_of(pushed: Pushed) -> dict[str, Any]:
    """What the header says of who sends, once its signature was checked."""
    kind, _, rest = pushed.headers["authorization"].partition(" ")
    assert kind == "vapid"
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    signed, _, signature = parts["t"].rpartition(".")
    raw = data_of(signature)
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data_of(parts["k"]))
    der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    key.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
    claims: dict[str, Any] = json.loads(data_of(signed.partition(".")[2]))
    return {**claims, "key": parts["k"]}


@cache
def certificate_file() -> Path:
    """A certificate for `localhost` with its key, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file = Path(tempfile.mkdtemp()) / "certificate.pem"
    file.write_bytes(secret + built.public_bytes(serialization.Encoding.PEM))
    return file


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _mac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()
