"""What a push service is given: a body that only the browser can read (RFC 8291), and who sends it (RFC 8292).

The service sees when something comes and for which browser, and about how long it is, in steps of a kilobyte.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import struct
from functools import cached_property
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sayso.errors import NotificationFailed

RECORD = 4096
STEP = 1024
"""What is sent is filled up to a multiple of this, so that its length tells little."""
MOST = 3 * STEP - 1
"""Bytes of a message; push services take no more than 4096 with all that is around it."""
JWT_LIFE = 12 * 3600
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class SenderKey:
    """The key pair by which push services know one inbox: made of a secret of the store, so it is the same for ever."""

    def __init__(self, secret: bytes) -> None:
        self._private = ec.derive_private_key(int.from_bytes(secret) % (_ORDER - 1) + 1, ec.SECP256R1())

    @cached_property
    def public(self) -> str:
        """As browsers want it when they subscribe."""
        return _text(_point(self._private.public_key()))

    def authorization(self, endpoint: str, contact: str, now: int) -> str:
        """The header that says who sends, for the service at this address alone. `now` in seconds."""
        parts = urlsplit(endpoint)
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": now + JWT_LIFE, "sub": contact}
        signed = ".".join(_text(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
        r, s = decode_dss_signature(self._private.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"vapid t={signed}.{_text(r.to_bytes(32) + s.to_bytes(32))}, k={self.public}"


def encrypted(message: bytes, p256dh: bytes, auth: bytes) -> bytes:
    """A message for one browser, by its public key and secret: aes128gcm with one record."""
    if len(message) > MOST:
        raise NotificationFailed(f"a push of {len(message)} bytes is too long")
    own, salt = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    try:
        shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), p256dh))
    except ValueError as error:
        raise NotificationFailed("the browser's key is none") from error
    key, nonce, public = *_keys(shared, auth, salt, p256dh, _point(own.public_key())), _point(own.public_key())
    filled = message + b"\x02" + bytes(-(len(message) + 1) % STEP)
    return salt + struct.pack(">IB", RECORD, len(public)) + public + AESGCM(key).encrypt(nonce, filled, None)


def _keys(shared: bytes, auth: bytes, salt: bytes, theirs: bytes, ours: bytes) -> tuple[bytes, bytes]:
    secret = _derived(_mac(auth, shared), b"WebPush: info\0" + theirs + ours)
    start = _mac(salt, secret)
    return _derived(start, b"Content-Encoding: aes128gcm\0")[:16], _derived(start, b"Content-Encoding: nonce\0")[:12]


def _derived(key: bytes, info: bytes) -> bytes:
    return _mac(key, info + b"\x01")


def _mac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
