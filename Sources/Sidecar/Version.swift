internal import Compressors
internal import Documents
internal import Events
internal import HTTP
internal import Patterns
internal import PublicSuffixes
internal import Resolver
internal import TLS
internal import Types

/// What version this is.
enum Version {
    /// The version of Martlet.
    static let number = "0.1.0"

    /// The version, the build ID, and the versions of the libraries it runs with.
    static var withLibraries: String {
        """
        martlet \(number)
        build \(Program.buildID ?? "unknown")
        libevent \(EventLoop.libraryVersion)
        libyaml \(YAML.libraryVersion)
        c-ares \(Resolver.libraryVersion)
        pcre2 \(Pattern.libraryVersion)
        libpsl \(PublicSuffixes.libraryVersion)
        zlib \(Compressor.zlibVersion)
        brotli \(Compressor.brotliVersion)
        zstd \(Compressor.zstdVersion)
        upb \(TypeSet.libraryVersion)
        nghttp2 \(HTTP2Library.version)
        openssl \(TLSLibrary.version)
        """
    }
}
