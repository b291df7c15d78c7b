"""The authorization server: Authlib's grants and endpoints, on the connections of the store.

Plain code, one object for each name of the server. What Authlib leaves open is closed here: PKCE by S256 alone, one
resource, codes and refresh tokens that are spent in the transaction that gives out new tokens.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from authlib.oauth2.rfc6749 import (
    AuthorizationCodeMixin,
    AuthorizationServer,
    ClientAuthentication,
    ClientMixin,
    InvalidGrantError,
    InvalidRequestError,
    JsonPayload,
    JsonRequest,
    OAuth2Error,
    OAuth2Payload,
    OAuth2Request,
    TokenMixin,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import ClientMetadataClaims, ClientRegistrationEndpoint, InvalidClientMetadataError
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter

from sayso.connections import ACCESS_LIFE, AgentConnection, Connections, Consent, TokenPair, new_pair
from sayso.errors import InvalidInput, SignInRefused
from sayso.oauth.addresses import OAuthAddress
from sayso.oauth.clients import SCOPE, OAuthClient, Registrations
from sayso.oauth.documents import ClientDocuments

# It tells whole tokens to those who debug.
logging.getLogger("authlib").setLevel(logging.WARNING)

AUTHORIZE, TOKEN, REGISTER, REVOKE = "/oauth/authorize", "/oauth/token", "/oauth/register", "/oauth/revoke"
_PUBLIC = ["none"]
"""How clients prove who they are: by PKCE alone."""
_GRANTS = ["authorization_code", "refresh_token"]
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_PARAMETERS = {
    *("client_id", "code", "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "redirect_uri"),
    *("refresh_token", "resource", "response_mode", "response_type", "scope", "token", "token_type_hint"),
}
_SPOKEN = re.compile(r"[ !#-\[\]-~]*")
_JUDGED = "https://localhost/"
"""In place of the address of a request: whether it came safely was judged before, by `addresses.py`."""

Parameters = Sequence[tuple[str, str]]


class OAuthReply:
    """What a client or a browser is answered."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        self.status, self.body, self.headers = status, body, dict(headers)

    @property
    def location(self) -> str:
        return self.headers.get("Location", "")

    @location.setter
    def location(self, to: str) -> None:
        self.headers["Location"] = to


class OAuthServer(AuthorizationServer):
    """What agents sign in at, under one of its names."""

    def __init__(
        self, address: OAuthAddress, connections: Connections, registrations: Registrations, documents: ClientDocuments
    ) -> None:
        super().__init__()
        self.address, self.connections, self.registrations = address, connections, registrations
        self._documents = documents
        self._client_auth = ClientAuthentication(self._known_client)
        self.register_grant(_CodeGrant, [_S256(required=True), _OneResource()])
        self.register_grant(_RefreshGrant)
        self.register_endpoint(_Revocation)
        self.register_endpoint(_Registration)
        self.register_token_generator("default", _new_token)
        issuer = _Issuer()
        issuer.issuer = address.issuer
        issuer(self)

    # What is asked of it

    def wanted(self, parameters: Parameters) -> Any:
        """What a client wants a person to agree to. OAuth2Error where it may not want that, SignInRefused where its
        document cannot be had."""
        return self.get_consent_grant(_OAuthRequest("GET", parameters))

    def decide(self, parameters: Parameters, user: str) -> OAuthReply:
        """Send the browser back to the client: with a code, or, where `user` is empty, with a no."""
        request = _OAuthRequest("GET", parameters)
        reply: OAuthReply = self.create_authorization_response(
            request, grant_user=user or None, grant=self.get_authorization_grant(request)
        )
        return reply

    def token(self, parameters: Parameters) -> OAuthReply:
        return self._answered(parameters, self.create_token_response)

    def revoke(self, parameters: Parameters) -> OAuthReply:
        return self._answered(parameters, partial(self.create_endpoint_response, _Revocation.ENDPOINT_NAME))

    def _answered(self, parameters: Parameters, answer: Callable[[Any], OAuthReply]) -> OAuthReply:
        try:
            request = _OAuthRequest("POST", parameters)
        except InvalidRequestError as error:
            return self.handle_response(*error())
        return answer(request)

    def register(self, given: object) -> OAuthReply:
        reply: OAuthReply = self.create_endpoint_response(_Registration.ENDPOINT_NAME, _RegistrationRequest(given))
        return reply

    def metadata(self) -> dict[str, object]:
        """RFC 8414."""
        at = self.address.issuer
        return {
            "issuer": at,
            "authorization_endpoint": at + AUTHORIZE,
            "token_endpoint": at + TOKEN,
            "registration_endpoint": at + REGISTER,
            "revocation_endpoint": at + REVOKE,
            "scopes_supported": [SCOPE],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": _GRANTS,
            "token_endpoint_auth_methods_supported": _PUBLIC,
            "revocation_endpoint_auth_methods_supported": _PUBLIC,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": self._documents.wanted,
        }

    # What Authlib wants to know

    def query_client(self, client_id: str) -> _Client | None:
        """The client about which a person decides."""
        if self.is_document(client_id):
            return _Client(self._documents.client(client_id))
        return self._known_client(client_id)

    def _known_client(self, client_id: str) -> _Client | None:
        """A client that shows a code or a token, which name it. Nothing is fetched for that."""
        if self.is_document(client_id):
            return _Client(OAuthClient(id=client_id, name="", redirect_uris=()))
        known = self.registrations.client(client_id)
        return _Client(known) if known else None

    def is_document(self, client_id: str) -> bool:
        """Whether a client is to be looked up outside."""
        return self._documents.wanted and self._documents.is_one(client_id)

    def save_token(self, token: Mapping[str, str], request: Any) -> None:
        pair = TokenPair(access=token["access_token"], refresh=token["refresh_token"])
        try:
            if request.authorization_code:
                self.connections.connect(request.payload.data["code"], pair)
            else:
                self.connections.refresh(request.payload.data["refresh_token"], pair)
        except SignInRefused as error:
            raise InvalidGrantError() from error

    def create_oauth2_request(self, request: Any) -> Any:
        return request

    def create_json_request(self, request: Any) -> Any:
        return request

    def handle_response(self, status: int, body: object, headers: Sequence[tuple[str, str]]) -> OAuthReply:
        return OAuthReply(status, body, dict(headers))

    def send_signal(self, name: str, *args: object, **kwargs: object) -> None:
        pass


class _Payload(OAuth2Payload):
    def __init__(self, parameters: Parameters) -> None:
        self._all: dict[str, list[str]] = {}
        for name, value in parameters:
            self._all.setdefault(name, []).append(value)
        # What is empty counts as left out (RFC 6749, 3.1).
        self._data = {name: values[0] for name, values in self._all.items() if values[0]}

    @property
    def data(self) -> dict[str, str]:
        return self._data

    @property
    def datalist(self) -> dict[str, list[str]]:
        return self._all


class _OAuthRequest(OAuth2Request):
    """InvalidRequestError names what no parameter of an honest client has in it. What gets further is named in errors
    as it was given, and Authlib fails over what must not stand in one (RFC 6749, 5.2)."""

    def __init__(self, method: str, parameters: Parameters) -> None:
        super().__init__(method, _JUDGED)
        self.payload = _Payload(parameters)
        for name, value in self.payload.data.items():
            if name in _PARAMETERS and not _SPOKEN.fullmatch(value):
                raise InvalidRequestError(f"{name} has characters in it that are not allowed there.")

    @property
    def form(self) -> dict[str, str]:
        data: dict[str, str] = self.payload.data
        return data


class _RegistrationRequest(JsonRequest):
    class _Given(JsonPayload):
        data: Any = None

    def __init__(self, given: object) -> None:
        super().__init__("POST", _JUDGED)
        self.payload = self._Given()
        self.payload.data = given if isinstance(given, dict) else {}


class _Client(ClientMixin):
    """A client in Authlib's words."""

    def __init__(self, about: OAuthClient) -> None:
        self.about = about

    def get_client_id(self) -> str:
        return self.about.id

    def get_default_redirect_uri(self) -> str | None:
        return self.about.redirect_uris[0] if len(self.about.redirect_uris) == 1 else None

    def get_allowed_scope(self, scope: str | None) -> str:
        return SCOPE

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return self.about.may_return_to(redirect_uri)

    def check_client_secret(self, client_secret: str) -> bool:
        return False

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in _PUBLIC

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in _GRANTS


class _Agreed(AuthorizationCodeMixin):
    """What a code stands for, in Authlib's words."""

    code_challenge_method = "S256"

    def __init__(self, consent: Consent) -> None:
        self.consent, self.code_challenge = consent, consent.challenge

    def get_redirect_uri(self) -> str:
        return self.consent.redirect_uri

    def get_scope(self) -> str:
        return SCOPE


class _Held(TokenMixin):
    """A token of a connection, in Authlib's words."""

    def __init__(self, connection: AgentConnection) -> None:
        self.connection = connection

    def check_client(self, client: _Client) -> bool:
        return client.about.id == self.connection.client

    def get_scope(self) -> str:
        return SCOPE


class _CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = _PUBLIC

    def save_authorization_code(self, code: str, request: Any) -> None:
        about = request.client.about
        consent = Consent(
            user=request.user,
            client=about.id,
            client_name=about.name,
            redirect_uri=request.payload.redirect_uri or request.client.get_default_redirect_uri(),
            resource=self.server.address.resource,
            challenge=request.payload.data["code_challenge"],
        )
        self.server.connections.agree(code, consent)

    def query_authorization_code(self, code: str, client: _Client) -> _Agreed | None:
        consent = self.server.connections.consent(code)
        return _Agreed(consent) if consent and consent.client == client.about.id else None

    def delete_authorization_code(self, authorization_code: _Agreed) -> None:
        pass

    def authenticate_user(self, authorization_code: _Agreed) -> str:
        return authorization_code.consent.user


class _RefreshGrant(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = _PUBLIC
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> _Held | None:
        _check_resource(self.request.payload, self.server.address)
        found = self.server.connections.refreshed_by(refresh_token)
        # A client may have moved from one name of this server to another: its tokens are for the one it signed in at.
        return _Held(found) if found and found.resource == self.server.address.resource else None

    def authenticate_user(self, refresh_token: _Held) -> str:
        return refresh_token.connection.user

    def revoke_old_credential(self, refresh_token: _Held) -> None:
        pass


class _S256(CodeChallenge):
    """PKCE in the one way that OAuth 2.1 leaves, for every client."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        given = grant.request.payload.data
        if given.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(given.get("code_challenge", "")):
            raise InvalidRequestError("PKCE is needed: a 'code_challenge' with 'code_challenge_method=S256'.")
        super().validate_code_challenge(grant, redirect_uri)


class _OneResource:
    """RFC 8707. Clients that name no resource want the only one there is."""

    def __call__(self, grant: Any) -> None:
        grant.register_hook("after_validate_authorization_request_payload", self._check)
        grant.register_hook("after_validate_token_request", self._check_code)

    def _check(self, grant: Any, _: object) -> None:
        _check_resource(grant.request.payload, grant.server.address)

    def _check_code(self, grant: Any, _: object) -> None:
        _check_resource(grant.request.payload, grant.server.address)
        if grant.request.authorization_code.consent.resource != grant.server.address.resource:
            raise InvalidGrantError()


def _check_resource(payload: _Payload, address: OAuthAddress) -> None:
    if not all(address.is_resource(named) for named in payload.datalist.get("resource", ()) if named):
        raise OAuth2Error(f"Tokens are made for {address.resource} alone.", error="invalid_target")


class _Issuer(IssuerParameter):
    issuer = ""

    def get_issuer(self) -> str:
        return self.issuer


class _Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = _PUBLIC

    def query_token(self, token_string: str, token_type_hint: str | None) -> _Held | None:
        found = self.server.connections.held_by(token_string)
        return _Held(found) if found else None

    def revoke_token(self, token: _Held, request: Any) -> None:
        self.server.connections.give_up(token.connection)


class _Claims(ClientMetadataClaims):
    def validate_redirect_uris(self) -> None:
        """Looked at when the client was described. Here each would need a host, and schemes of programs have none."""


class _Registration(ClientRegistrationEndpoint):
    def __init__(self, server: Any = None) -> None:
        super().__init__(server, [_Claims])

    def authenticate_token(self, request: Any) -> bool:
        """Anybody may register: that alone opens nothing."""
        return True

    def extract_client_metadata(self, request: Any) -> dict[str, Any]:
        """What was registered, which need not be all that was wanted (RFC 7591, 3.2.1)."""
        try:
            request.client = self.server.registrations.register(request.payload.data)
        except InvalidInput as error:
            raise InvalidClientMetadataError(_in_ascii(str(error))) from error
        given = {**request.payload.data, "client_name": request.client.name}
        fixed = {"token_endpoint_auth_method": "none", "grant_types": _GRANTS, "response_types": ["code"]}
        request.payload.data = (
            {name: given[name] for name in ("redirect_uris", "client_name")} | fixed | {"scope": SCOPE}
        )
        metadata: dict[str, Any] = super().extract_client_metadata(request)
        return metadata

    def get_server_metadata(self) -> dict[str, object]:
        metadata: dict[str, object] = self.server.metadata()
        return metadata

    def generate_client_info(self, request: Any) -> dict[str, object]:
        return {"client_id": request.client.id, "client_id_issued_at": int(time.time())}

    def save_client(self, client_info: Any, client_metadata: Any, request: Any) -> None:
        pass


def _new_token(**_: object) -> dict[str, object]:
    pair = new_pair()
    secrets = {"access_token": pair.access, "refresh_token": pair.refresh}
    return {"token_type": "Bearer", **secrets, "expires_in": ACCESS_LIFE // 1000, "scope": SCOPE}


def _in_ascii(text: str) -> str:
    """As the protocol wants it said: without quotation marks and backslashes."""
    return text.encode("ascii", "replace").decode().replace('"', "'").replace("\\", "/")
