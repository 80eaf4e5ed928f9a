internal import Bytes
internal import Documents
internal import Protocols
internal import RPC

/// The code and the message that a conclusion comes to.
struct Reported {
    var code: RPCCode
    var message: String

    init(_ conclusion: Conclusion) {
        switch conclusion {
        case .code(let code, let message):
            self.code = code
            self.message = String(decoding: message, as: UTF8.self)
        case .json(let bytes, _, let isEndStream):
            let json = try? JSON.parse(bytes)
            if json == nil, bytes.count < 60_000 { fail("our JSON is JSON: \(String(decoding: bytes, as: UTF8.self))") }
            let error = isEndStream ? json?["error"] : json
            let name = Array((error?["code"]?.string ?? "").utf8)
            code = conclusion.code(fromName: name.span)
            message = error?["message"]?.string ?? ""
        }
    }
}
