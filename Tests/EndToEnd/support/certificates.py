"""Certificates for a test, and the authority that signs them."""

import base64
import datetime
import hashlib
import ssl

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization


class Identity:
    """A certificate and its key, in files."""

    def __init__(self, directory, name, certificate, key):
        self.certificate = directory / f"{name}.pem"
        self.key = directory / f"{name}.key"
        self.certificate.write_bytes(certificate)
        self.key.write_bytes(key)

    @property
    def pin(self):
        """How martlet.yaml names the public key."""
        certificate = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        public = certificate.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return "sha256/" + base64.b64encode(hashlib.sha256(public).digest()).decode()

    def server(self, clients=None, versions=(None, None)):
        """What a Python server needs; `clients` is the authority that callers' certificates must be from."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if clients:
            context.load_verify_locations(clients.file)
            context.verify_mode = ssl.CERT_REQUIRED
        minimum, maximum = versions
        if minimum:
            context.minimum_version = minimum
        if maximum:
            context.maximum_version = maximum
        return context

    def replace(self, other):
        """Writes another certificate and key to the same files, one after the other, as renewal does."""
        self.certificate.write_bytes(other.certificate.read_bytes())
        self.key.write_bytes(other.key.read_bytes())


class Authority:
    """Signs whatever a test asks for."""

    def __init__(self, directory, name="authority"):
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.name = name
        self._ca = trustme.CA(organization_name=name, key_type=trustme.KeyType.ECDSA)
        self._issued = 0
        self.file = directory / f"{name}.pem"
        self._ca.cert_pem.write_to_path(str(self.file))

    def _next(self):
        self._issued += 1
        return f"{self.name}-{self._issued}"

    def issue(self, *names, **options):
        """A certificate for host names or addresses; `not_after` may be in the past."""
        made = self._ca.issue_cert(*names or ["127.0.0.1"], key_type=trustme.KeyType.ECDSA, **options)
        chain = b"".join(one.bytes() for one in made.cert_chain_pems)
        return Identity(self.directory, self._next(), chain, made.private_key_pem.bytes())

    def issue_expired(self, *names):
        now = datetime.datetime.now(datetime.timezone.utc)
        past = now - datetime.timedelta(days=10)
        return self.issue(*names, not_before=past, not_after=now - datetime.timedelta(days=1))

    def renew(self, identity):
        """Another certificate for the same key."""
        old = x509.load_pem_x509_certificate(identity.certificate.read_bytes())
        own = serialization.load_pem_private_key(self._ca.private_key_pem.bytes(), None)
        builder = (
            x509.CertificateBuilder()
            .subject_name(old.subject)
            .issuer_name(old.issuer)
            .public_key(old.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(old.not_valid_before_utc)
            .not_valid_after(old.not_valid_after_utc)
        )
        for extension in old.extensions:
            builder = builder.add_extension(extension.value, extension.critical)
        new = builder.sign(own, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        return Identity(self.directory, self._next(), new, identity.key.read_bytes())

    def client(self, identity=None):
        """What a Python client needs to trust this authority, and to show `identity`."""
        context = ssl.create_default_context(cafile=self.file)
        if identity:
            context.load_cert_chain(identity.certificate, identity.key)
        return context
