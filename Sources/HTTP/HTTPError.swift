/// What is wrong with an HTTP message, so wrong that it is rejected.
public enum HTTPError: Error, CaseIterable, Sendable {
    case requestLine, target, scheme, version, http2Preface, connect, upgrade, expectation
    case statusLine
    case fieldName, longFieldName, fieldValue, obsoleteFolding, bareLineFeed, bareCarriageReturn, nullByte
    case missingHost, severalHosts, invalidHost
    case contentLength, contentLengthWithTransferEncoding, transferEncoding
    case chunkSize, chunkEnd
    case headTooLarge, tooManyFields
    case headTimeout, bodyTimeout, outOfMemory
    case unexpectedBytes
    case http2Message

    /// The status of the rejection of a request.
    public var status: Int {
        switch self {
        case .version, .http2Preface: 505
        case .connect, .upgrade: 501
        case .expectation: 417
        case .headTooLarge, .tooManyFields, .longFieldName: 431
        case .headTimeout, .bodyTimeout: 408
        case .outOfMemory: 503
        default: 400
        }
    }

    /// What a person is told about it.
    public var text: String {
        switch self {
        case .requestLine: "the request line is not METHOD SP target SP version"
        case .target: "the request target contains invalid bytes"
        case .scheme: "the scheme of the request must be http or https"
        case .version: "the HTTP version must be 1.0 or 1.1"
        case .http2Preface: "the HTTP/2 preface must be at the start of the connection"
        case .connect: "the CONNECT method is not supported"
        case .upgrade: "Upgrade to WebSocket is not supported"
        case .expectation: "the only supported expectation is 100-continue"
        case .statusLine: "the status line is malformed"
        case .fieldName: "a header name is malformed, or has a space before its colon"
        case .longFieldName: "a header name is longer than 64 KiB, the maximum over HTTP/2"
        case .fieldValue: "a header value contains control characters"
        case .obsoleteFolding: "a header is folded over several lines"
        case .bareLineFeed: "a line ends with LF alone"
        case .bareCarriageReturn: "the head contains a CR without LF"
        case .nullByte: "the head contains a NUL byte"
        case .missingHost: "the Host header is missing"
        case .severalHosts: "there is more than one Host header"
        case .invalidHost: "the Host header is not a valid host, or names another host than the target"
        case .contentLength: "Content-Length is not one decimal number"
        case .contentLengthWithTransferEncoding: "Content-Length and Transfer-Encoding cannot be used together"
        case .transferEncoding: "the only supported transfer coding is chunked"
        case .chunkSize: "a chunk size is malformed"
        case .chunkEnd: "a chunk is longer than its size"
        case .headTooLarge: "the head is larger than limits.head"
        case .tooManyFields: "the head has more fields than limits.fields"
        case .headTimeout: "the head did not arrive within timeouts.head"
        case .bodyTimeout: "no byte of the request body arrived within timeouts.body"
        case .outOfMemory: "Martlet has reached its memory limit (limits.memory)"
        case .http2Message: "the message is malformed HTTP/2"
        case .unexpectedBytes: "the peer sent data where no message was expected"
        }
    }
}

extension HTTPError: CustomStringConvertible {
    public var description: String { text }
}
