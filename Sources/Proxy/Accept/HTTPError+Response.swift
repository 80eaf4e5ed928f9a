internal import HTTP
internal import RPC
internal import Telemetry

extension HTTPError {
    /// The code that goes with the status of the rejection.
    var code: RPCCode {
        switch self {
        case .connect, .upgrade, .version, .http2Preface: .unimplemented
        case .headTooLarge, .tooManyFields, .longFieldName, .outOfMemory: .resourceExhausted
        case .headTimeout, .bodyTimeout: .deadlineExceeded
        default: .invalidArgument
        }
    }

    /// The limit that was met, if it was one.
    var limit: LimitLabel? {
        switch self {
        case .headTooLarge: .head
        case .tooManyFields: .fields
        case .headTimeout: .headTimeout
        case .bodyTimeout: .bodyTimeout
        default: nil
        }
    }

    /// The reason that rejections are counted by.
    var label: StaticString {
        switch self {
        case .requestLine: "request_line"
        case .target: "target"
        case .scheme: "scheme"
        case .version: "version"
        case .http2Preface: "http2_preface"
        case .connect: "connect"
        case .upgrade: "upgrade"
        case .expectation: "expectation"
        case .statusLine: "status_line"
        case .fieldName: "field_name"
        case .longFieldName: "long_field_name"
        case .fieldValue: "field_value"
        case .obsoleteFolding: "obsolete_folding"
        case .bareLineFeed: "bare_line_feed"
        case .bareCarriageReturn: "bare_carriage_return"
        case .nullByte: "null_byte"
        case .missingHost: "missing_host"
        case .severalHosts: "several_hosts"
        case .invalidHost: "invalid_host"
        case .contentLength: "content_length"
        case .contentLengthWithTransferEncoding: "content_length_with_transfer_encoding"
        case .transferEncoding: "transfer_encoding"
        case .chunkSize: "chunk_size"
        case .chunkEnd: "chunk_end"
        case .headTooLarge: "head_too_large"
        case .tooManyFields: "too_many_fields"
        case .headTimeout: "head_timeout"
        case .bodyTimeout: "body_timeout"
        case .outOfMemory: "out_of_memory"
        case .unexpectedBytes: "unexpected_bytes"
        case .http2Message: "http2_message"
        }
    }
}
