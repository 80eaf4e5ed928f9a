import Bytes
import HTTP

/// What happened on a connection, one line each, in order.
///
/// Pieces of a body are put together, so that the same bytes make the same transcript however they were cut.
final class Transcript {
    private(set) var lines: [String] = []
    private let whole: Transcript?

    /// Makes a transcript; what is noted in it is noted in `whole` as well.
    init(in whole: Transcript? = nil) {
        self.whole = whole
    }

    func note(_ line: String) {
        lines.append(line)
        whole?.note(line)
    }

    func note(body: Span<UInt8>) {
        whole?.note(body: body)
        let text = body.string
        if lines.last?.hasPrefix("body ") == true {
            lines[lines.count - 1] += text
        } else {
            lines.append("body " + text)
        }
    }

    /// Notes a head as its first line and one line for each field.
    func note(_ kind: String, _ head: HTTPHead) {
        note("\(kind) \(head.summary)")
        note(fieldsOf: head)
    }

    func note(fieldsOf head: HTTPHead) {
        for index in 0..<head.count {
            note("  \(head.name(at: index).string): \(head.value(at: index).string)")
        }
    }
}

extension HTTPHead {
    /// The control data in words: `POST /path host=a length=5`, or `200 OK`.
    fileprivate var summary: String {
        var words: [String] = []
        if status > 0 {
            words = ["\(status)", reason.string]
        } else {
            words = [method.string, target.string, authority.count > 0 ? "host=\(authority.string)" : ""]
        }
        if let contentLength { words.append("length=\(contentLength)") }
        if expectsContinue { words.append("expects=continue") }
        if acceptsTrailers { words.append("te=trailers") }
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension HTTPReset {
    var words: String {
        switch self {
        case .canceled: "canceled"
        case .exceeded(let limit): "exceeded \(limit)"
        case .code(let code): "\(code)"
        case .unprocessed: "unprocessed"
        case .connectionLost(let errno): errno.map { "connection lost, errno \($0)" } ?? "connection lost"
        case .shutdown: "shutdown"
        case .tooLargeForPeer(let limit): "too large for the peer's \(limit)"
        case .error(let error): "fault \(error)"
        }
    }
}
