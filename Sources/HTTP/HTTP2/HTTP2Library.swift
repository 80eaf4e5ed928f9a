internal import CNghttp2

/// The library that knows the frames of HTTP/2.
public enum HTTP2Library {
    /// The version of nghttp2.
    public static var version: String {
        unsafe String(cString: nghttp2_version(0).pointee.version_str)
    }
}
