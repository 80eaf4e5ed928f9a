/// A field with a string that nghttp2 does not read, as the peer sent it.
struct HTTP2LongField {
    /// The length of the name if nghttp2 sees another name, else 0.
    var nameCount = 0
    /// The length of the value if nghttp2 sees another value, else 0; of a value beyond the limit, at least the limit.
    var valueCount = 0
    /// The value, or its beginning if it is longer than the limit.
    var value: [UInt8] = []
}
