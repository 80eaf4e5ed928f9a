/// What is wrong with an HTTP message, so wrong that it is rejected.
public enum HTTPError: Error, CaseIterable, Sendable {
    case requestLine, target, scheme, version, http2Preface, connect, upgrade, expectation
    case statusLine
    case fieldName, fieldValue, obsoleteFolding, bareLineFeed, bareCarriageReturn, nullByte
    case missingHost, severalHosts, invalidHost
    case contentLength, contentLengthWithTransferEncoding, transferEncoding
    case chunkSize, chunkEnd
    case headTooLarge, tooManyFields
    case headTimeout, outOfMemory
    case unexpectedBytes
    case http2Message

    /// The status of the rejection of a request.
    public var status: Int {
        switch self {
        case .version, .http2Preface: 505
        case .connect, .upgrade: 501
        case .expectation: 417
        case .headTooLarge, .tooManyFields: 431
        case .headTimeout: 408
        case .outOfMemory: 503
        default: 400
        }
    }

    /// What a person is told about it.
    public var text: String {
        switch self {
        case .requestLine: "the request line is not METHOD SP target SP version"
        case .target: "the request target has bytes that cannot be in it"
        case .scheme: "the scheme of the request is neither http nor https"
        case .version: "the HTTP version is not 1.0 or 1.1"
        case .http2Preface: "the preface of HTTP/2 comes only at the start of a connection"
        case .connect: "CONNECT is not supported"
        case .upgrade: "upgrades are not supported"
        case .expectation: "the only expectation that can be met is 100-continue"
        case .statusLine: "the status line is malformed"
        case .fieldName: "a header name is malformed, or has space before its colon"
        case .fieldValue: "a header value has control bytes"
        case .obsoleteFolding: "a header is folded over several lines"
        case .bareLineFeed: "a line ends with LF alone"
        case .bareCarriageReturn: "a CR stands without its LF"
        case .nullByte: "there is a NUL byte in the head"
        case .missingHost: "there is no Host header"
        case .severalHosts: "there is more than one Host"
        case .invalidHost: "the Host header is not a host"
        case .contentLength: "Content-Length is not one decimal number"
        case .contentLengthWithTransferEncoding: "there are both Content-Length and Transfer-Encoding"
        case .transferEncoding: "the only transfer coding that is understood is chunked, once"
        case .chunkSize: "a chunk size is malformed"
        case .chunkEnd: "a chunk does not end where its size says"
        case .headTooLarge: "the head is larger than limits.head"
        case .tooManyFields: "the head has more fields than limits.fields"
        case .headTimeout: "the head did not arrive within timeouts.head"
        case .outOfMemory: "martlet is short of memory (limits.memory)"
        case .http2Message: "the message is not as HTTP/2 has it"
        case .unexpectedBytes: "there were bytes where no message was due"
        }
    }
}

extension HTTPError: CustomStringConvertible {
    public var description: String { text }
}
