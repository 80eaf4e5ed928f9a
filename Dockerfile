# Builds Martlet, tests it, and puts it into an image of its own with the libraries that it needs, and nothing else.
# Tests/Container makes the last two stages without Docker: it reads each of their instructions, so a new kind of
# instruction needs a line in Tests/Container/image.py.

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
    && install -D -m 0644 .build/licences/upb.LICENSE /image/usr/share/doc/martlet/upb.LICENSE \
    && scripts/sbom /image/usr/bin/martlet >/image/usr/share/doc/martlet/martlet.spdx.json

# The root file system of the image, in /image.
FROM debian:bookworm-slim AS root
WORKDIR /martlet
COPY scripts/runtime-packages scripts/runtime-packages
RUN apt-get update && xargs --arg-file=scripts/runtime-packages apt-get install --yes --no-install-recommends
COPY --from=build /image /image
COPY LICENSE /image/usr/share/doc/martlet/LICENSE
COPY etc/container.yaml /image/etc/martlet/martlet.yaml
COPY etc/examples /image/usr/share/doc/martlet/examples
COPY scripts/image-root scripts/image-root
RUN scripts/image-root /image

FROM scratch
LABEL org.opencontainers.image.title="Martlet" \
      org.opencontainers.image.description="An RPC sidecar proxy for Connect, gRPC, gRPC-Web and plain HTTP" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND MIT AND BSD-3-Clause"
COPY --from=root /image /
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
