internal import CBrotli
internal import CZlib
internal import CZstd

extension Compressor {
    /// The version of zlib.
    public static var zlibVersion: String { unsafe String(cString: CZlib.zlibVersion()) }

    /// The version of Brotli.
    public static var brotliVersion: String {
        let version = BrotliDecoderVersion()
        return "\(version >> 24).\(version >> 12 & 0xfff).\(version & 0xfff)"
    }

    /// The version of Zstandard.
    public static var zstdVersion: String { unsafe String(cString: ZSTD_versionString()) }
}
