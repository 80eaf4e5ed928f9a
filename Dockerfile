# Builds Martlet, tests it, and puts it on a bare Debian. Tests/Container makes the second stage without Docker: it
# reads each of its instructions, so a new kind of instruction needs a line in Tests/Container/image.py.

FROM swift:6.3-bookworm AS build
WORKDIR /martlet
COPY scripts scripts
RUN scripts/install-build-deps
COPY Package.swift .
COPY Sources Sources
COPY Benchmarks Benchmarks
COPY Tests Tests
RUN swift test --disable-xctest
RUN NGHTTP2=source scripts/build-release \
    && install -D -s -m 0755 .build/release/martlet /image/usr/bin/martlet \
    && install -D -m 0644 .build/licences/nghttp2.COPYING /image/usr/share/doc/martlet/nghttp2.COPYING \
    && install -D -m 0644 .build/licences/upb.LICENSE /image/usr/share/doc/martlet/upb.LICENSE

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Martlet" \
      org.opencontainers.image.description="An RPC sidecar proxy for Connect, gRPC, gRPC-Web and plain HTTP" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND MIT AND BSD-3-Clause"
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates \
        libbrotli1 \
        libc-ares2 \
        libevent-core-2.1-7 \
        libjansson4 \
        libpcre2-8-0 \
        libpsl5 \
        libssl3 \
        libyaml-0-2 \
        libzstd1 \
        zlib1g \
    && rm -rf /var/lib/apt/lists/*
# As /tmp is: the user may be any, and none may remove the socket of another.
RUN install -d -m 1777 /run/martlet
COPY --from=build /image/usr/bin/martlet /usr/bin/martlet
COPY --from=build /image/usr/share/doc/martlet/nghttp2.COPYING /usr/share/doc/martlet/nghttp2.COPYING
COPY --from=build /image/usr/share/doc/martlet/upb.LICENSE /usr/share/doc/martlet/upb.LICENSE
COPY etc/container.yaml /etc/martlet/martlet.yaml
COPY etc/examples /usr/share/doc/martlet/examples
# With RUNTIME_DIRECTORY, a file that names no admin socket has one all the same, and the health check finds it.
ENV MARTLET_CONFIG=/etc/martlet/martlet.yaml RUNTIME_DIRECTORY=/run/martlet MALLOC_ARENA_MAX=2 SWIFT_BACKTRACE=enable=no
# The only place that Martlet writes to, so that the root file system can be read-only.
VOLUME /run/martlet
# By number, so that `runAsNonRoot` can tell that it is not root.
USER 65532:65532
STOPSIGNAL SIGTERM
# Images in OCI's format have no health check: buildah and podman keep it with `--format docker`.
HEALTHCHECK --interval=10s --timeout=2s --start-period=5s --retries=3 CMD ["/usr/bin/martlet", "healthcheck"]
ENTRYPOINT ["/usr/bin/martlet"]
