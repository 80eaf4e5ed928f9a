"""What the identity provider of the tests knows of OAuth2: its clients, its grants and its tokens, on Authlib."""

import time

from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    ClientMixin,
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
)
from authlib.oauth2.rfc6749.grants import BaseGrant, ClientCredentialsGrant, TokenEndpointMixin
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload, OAuth2Request
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from joserfc import jwk, jwt
from joserfc.errors import JoseError

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
SIGNED = JWTBearerClientAssertion.CLIENT_AUTH_METHOD
METHODS = ["client_secret_basic", "client_secret_post", SIGNED]
AUDIENCE = "services"


class Client(ClientMixin):
    """A client, made for each request; `audience` is that of the token it will get."""

    def __init__(self, name, secret=None, key=None):
        self.name = name
        self.secret = secret
        self.key = key
        self.audience = AUDIENCE

    def get_client_id(self):
        return self.name

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_client_secret(self, secret):
        return self.secret is not None and secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method in METHODS

    def check_grant_type(self, grant_type):
        return True


class Subject:
    """On whose behalf a token is issued."""

    def __init__(self, name):
        self.name = name

    def get_user_id(self):
        return self.name


class FormRequest(OAuth2Request):
    """A request in Authlib's form."""

    def __init__(self, uri, headers, form):
        super().__init__("POST", uri, headers=headers)
        self.payload = BasicOAuth2Payload(form)
        self._form = form

    @property
    def form(self):
        return self._form

    @property
    def args(self):
        return {}


class Assertions(JWTBearerClientAssertion):
    """Clients that sign an assertion (RFC 7523); each assertion is valid once."""

    def __init__(self, audiences):
        super().__init__(leeway=0)
        self._audiences = audiences
        self._used = set()

    def get_audiences(self):
        return self._audiences

    def validate_jti(self, claims, jti):
        is_new = jti not in self._used
        self._used.add(jti)
        return is_new

    def resolve_client_public_key(self, client):
        return jwk.import_key(client.key)

    def process_assertion_claims(self, assertion, resolve_key):
        # Authlib's own accepts only the three algorithms that joserfc recommends.
        try:
            token = jwt.decode(assertion, resolve_key, algorithms=["RS256", "ES256", "EdDSA", "Ed25519"])
        except (JoseError, ValueError) as error:
            raise InvalidClientError(description=str(error)) from error
        self.verify_claims(token.claims)
        return token.claims


class ClientCredentials(ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def create_token_response(self):
        self.client.audience = self.request.form.get("audience", AUDIENCE)
        return super().create_token_response()


class TokenExchange(BaseGrant, TokenEndpointMixin):
    """RFC 8693; a request without a client may exchange, too."""

    GRANT_TYPE = EXCHANGE
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def validate_token_request(self):
        form = self.request.form
        if "client_id" in form or "client_assertion" in form or self.request.headers.get("Authorization"):
            self.request.client = self.authenticate_token_endpoint_client()
        else:
            self.request.client = Client("anonymous")
        for name in ("subject_token", "subject_token_type"):
            if not form.get(name):
                raise InvalidRequestError(f"Missing '{name}' in request.")
        if ("actor_token" in form) != ("actor_token_type" in form):
            raise InvalidRequestError("'actor_token' and 'actor_token_type' belong together.")
        self.request.user = Subject(self.server.subject(form["subject_token"]))

    def create_token_response(self):
        self.client.audience = self.request.form.get("audience", AUDIENCE)
        token = self.generate_token(
            user=self.request.user, scope=self.request.form.get("scope"), include_refresh_token=False
        )
        return 200, token | {"issued_token_type": ACCESS_TOKEN}, self.TOKEN_RESPONSE_HEADER


class Tokens(JWTBearerTokenGenerator):
    """Signs access tokens (RFC 9068) that live as long as `state` says and name its generation."""

    def __init__(self, issuer, key, state):
        super().__init__(issuer, expires_generator=lambda client, grant: state.lifetime(client.name))
        self._key = key
        self._state = state

    def get_jwks(self):
        return self._key

    def get_audiences(self, client, user, scope):
        return client.audience

    def get_extra_claims(self, client, grant_type, user, scope):
        # In whole seconds, a token of one second would live anything between none and one.
        expiry = round(time.time() + self._state.lifetime(client.name), 3)
        return {"exp": expiry, "generation": self._state.generation}


class OAuth(AuthorizationServer):
    """Responds to token requests; `state` has the settings, which may change at any time."""

    def __init__(self, url, state):
        super().__init__()
        self._url = url
        self._state = state
        self._key = jwk.RSAKey.generate_key(2048, {"kid": "provider-1", "use": "sig", "alg": "RS256"})
        self._tokens = Tokens(url, self._key, state)
        self.register_client_auth_method(SIGNED, Assertions([url, f"{url}/token"]))
        self.register_grant(ClientCredentials)
        self.register_grant(TokenExchange)
        self.register_token_generator("default", self._tokens)

    def jwks(self):
        return {"keys": [self._key.as_dict(private=False)]}

    def issue(self, subject):
        """A token for a client that has authenticated in another way."""
        return self._tokens(grant_type="login", client=Client("login"), user=Subject(subject), include_refresh_token=False)

    def subject(self, text):
        """Whom a subject token is about: a text that is known, or a token of this provider that is still good."""
        if text in self._state.subjects:
            return self._state.subjects[text]
        try:
            claims = jwt.decode(text, self._key, algorithms=["RS256"]).claims
        except (JoseError, ValueError) as error:
            raise InvalidGrantError("The subject token is none.") from error
        if claims["exp"] <= time.time() or claims["generation"] < self._state.generation:
            raise InvalidGrantError("The subject token is no longer good.")
        return claims["sub"]

    def response(self, headers, form):
        """(status, body, headers) for a token request, and the request as Authlib has come to know it."""
        request = FormRequest(f"{self._url}/token", headers, form)
        status, body, fields = self.create_token_response(request)
        return status, body, fields, request

    # What Authlib asks of a server

    def query_client(self, client_id):
        key = self._state.keys.get(client_id)
        secret = self._state.clients.get(client_id)
        return Client(client_id, secret, key) if secret or key else None

    def save_token(self, token, request):
        pass

    def create_oauth2_request(self, request):
        return request

    def handle_response(self, status, body, headers):
        return status, body, headers

    def send_signal(self, name, *args, **kwargs):
        pass
