"""The proxies, each set up for the same job: set `authorization`, remove `x-internal`, set `x-served-by`, count calls."""

import os
import shutil
import string
import subprocess
from dataclasses import dataclass
from pathlib import Path

from process import DESCRIPTORS, PROXY, Failed, Process, free_port

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MARTLET = Path(os.environ.get("MARTLET_BIN", ROOT / ".build/release/martlet")).absolute()
TOKEN = "bench-7c1d5b2e9f604a83"
AUTHORIZATION = f"Bearer {TOKEN}"
# What callers send where no proxy sets it.
AUTHORIZED = {"authorization": AUTHORIZATION}
NAME = "backend.bench"


class Marked(string.Template):
    delimiter = "%"


def render(file, **marks):
    """A file of `configurations` with its marks filled in; none may be left over."""
    user = "user root;" if os.getuid() == 0 else ""
    text = (HERE / "configurations" / file).read_text()
    return Marked(text).substitute(marks, authorization=AUTHORIZATION, user=user, descriptors=DESCRIPTORS)


def nginx(case, marks):
    kind = "grpc" if case.grpc else "proxy"
    scheme = "grpc" if case.grpc else "https" if case.tls else "http"
    lines = [f"{kind}_pass {scheme}://bench", f'{kind}_set_header authorization "{AUTHORIZATION}"', f'{kind}_set_header x-internal ""']
    if case.grpc:
        lines += ["grpc_buffer_size 16k"]
    else:
        # Without these it asks in HTTP/1.0 and closes, and puts responses of 64 KiB into files.
        lines += ["proxy_http_version 1.1", 'proxy_set_header connection ""', "proxy_buffer_size 16k", "proxy_buffers 8 16k"]
        lines += ["proxy_busy_buffers_size 64k", "proxy_max_temp_file_size 0"]
    if case.tls:
        lines += ["proxy_ssl_verify on", f"proxy_ssl_trusted_certificate {marks['directory']}/ca.pem", f"proxy_ssl_name {NAME}"]
        lines += ["proxy_ssl_server_name on", "proxy_ssl_protocols TLSv1.3"]
    return {"pass": " ".join(f"{line};" for line in lines), "http2": "http2" if case.grpc else "", "cache": ""}


def haproxy(case, marks):
    tls = f"ssl verify required ca-file {marks['directory']}/ca.pem sni str({NAME}) verifyhost {NAME} ssl-min-ver TLSv1.3"
    http2 = "proto h2" if case.grpc else ""
    # Its buffers of 16 KiB double what big responses in HTTP/2 cost it. Wider windows on top make it fail calls.
    tune = "tune.bufsize 65536" if case.grpc and case.size > 16384 else ""
    return {"http2": http2, "server": tls if case.tls else http2, "tune": tune}


def nghttpx(case, _):
    return {"protocol": "proto=h2" if case.grpc else "proto=http/1.1" + (f";tls;sni={NAME}" if case.tls else "")}


def envoy(case, marks):
    context = (
        "transport_socket: { name: envoy.transport_sockets.tls, typed_config: {"
        ' "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,'
        f" sni: {NAME}, common_tls_context: {{ tls_params: {{ tls_minimum_protocol_version: TLSv1_3,"
        " tls_maximum_protocol_version: TLSv1_3 }, validation_context: {"
        f" trusted_ca: {{ filename: {marks['directory']}/ca.pem }},"
        f" match_typed_subject_alt_names: [{{ san_type: DNS, matcher: {{ exact: {NAME} }} }}] }} }} }} }}"
    )
    protocol = "http2_protocol_options" if case.grpc else "http_protocol_options"
    kind, settings = {
        "": (None, ""),
        "connect": ("connect_grpc_bridge.v3.FilterConfig", ""),
        "grpc_web": ("grpc_web.v3.GrpcWeb", ""),
        "json": (
            "grpc_json_transcoder.v3.GrpcJsonTranscoder",
            f", proto_descriptor: {marks['directory']}/bench.binpb, services: [bench.v1.Bench], auto_mapping: true",
        ),
    }[case.speaks]
    filters = kind and (
        f"- {{ name: envoy.filters.http.{kind.split('.')[0]}, typed_config: {{"
        f' "@type": type.googleapis.com/envoy.extensions.filters.http.{kind}{settings} }} }}'
    )
    return {"filters": filters or "", "codec": "HTTP2" if case.grpc else "HTTP1", "protocol": protocol, "tls": context if case.tls else ""}


JOB = [
    "metrics: {}",
    "token: { file: %{directory}/token }",
    "headers: { request: { remove: [x-internal] }, response: { set: { x-served-by: martlet } } }",
]


def martlet(case, marks, workers=1, interceptors=JOB, routes=""):
    items = ", ".join("{ %s }" % item.replace("%{directory}", str(marks["directory"])) for item in interceptors)
    scheme = "h2c" if case.grpc else "https" if case.tls else "http"
    tls = f"tls: {{ ca: {marks['directory']}/ca.pem, server_name: {NAME} }}" if case.tls else ""
    url = f"{scheme}://127.0.0.1:{marks['backend']}"
    speaks = "speaks: grpc" if case.speaks else ""
    types = ""
    if case.speaks == "json":
        speaks, types = "speaks: grpc\n    codecs: [proto]", f"types: {{ files: [{marks['directory']}/bench.binpb] }}"
    return {"speaks": speaks, "types": types, "url": url, "tls": tls, "interceptors": items, "workers": workers, "routes": routes}


@dataclass(frozen=True)
class Peer:
    """How one proxy is configured and started."""

    name: str
    file: str
    marks: object  # (case, marks for all) -> marks of its own
    arguments: list  # of which {file}, {directory}, {port} and {backend} are filled in
    version: str = "--version"
    removes: bool = True  # can remove a request header
    command: str = ""  # what is started, where that is not the name
    binary: Path | None = None
    cpus: frozenset = frozenset({PROXY})

    @property
    def program(self):
        """Its path, or nothing where it is not installed."""
        if self.binary:
            return str(self.binary) if self.binary.exists() else None
        return shutil.which(self.command or self.name, path=f"{os.environ['PATH']}:/usr/sbin")

    def version_line(self):
        run = subprocess.run([self.program, self.version], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
        return next(line for line in run.stdout.splitlines() if line.strip()).strip()

    def start(self, case, stage):
        """A fresh process of it, in front of the backend of the case: (process, port)."""
        if not self.program:
            raise Failed("not installed")
        directory = stage.directory / "proxy"
        directory.mkdir(exist_ok=True)
        connections = 16000 if case.connections > 2000 else 4096
        marks = {"port": free_port(), "admin": free_port(), "directory": stage.directory, "connections": connections}
        marks |= {"backend": stage.port(case), "memory": stage.memory}
        file = directory / self.file
        file.write_text(render(self.file, **marks, **self.marks(case, marks)))
        words = [word.format(file=file, directory=directory, port=marks["port"], backend=marks["backend"]) for word in self.arguments]
        process = Process([self.program, *words], directory, self.cpus)
        try:
            process.wait_for_port(marks["port"])
        except Failed:
            process.stop()
            raise
        return process, marks["port"]


ENVOY = sorted((ROOT / ".build/bench/envoy").glob("*/envoy/_bin/envoy")) or [Path("/nowhere/envoy")]
PEERS = {
    peer.name: peer
    for peer in [
        Peer("martlet", "martlet.yaml", martlet, ["run", "-c", "{file}"], binary=MARTLET),
        Peer("nginx", "nginx.conf", nginx, ["-p", "{directory}", "-c", "{file}", "-e", "stderr"], "-v"),
        Peer("haproxy", "haproxy.cfg", haproxy, ["-db", "-f", "{file}"], "-v"),
        # Debian builds it without what could remove a header, and it counts no calls: it does less than the job.
        Peer("nghttpx", "nghttpx.conf", nghttpx, ["--conf={file}"], removes=False),
        Peer(
            "envoy",
            "envoy.yaml",
            envoy,
            ["-c", "{file}", "--concurrency", "1", "--disable-hot-restart", "-l", "warning"],
            binary=ENVOY[-1],
        ),
    ]
}
