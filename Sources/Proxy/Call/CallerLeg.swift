internal import Bytes
internal import HTTP
internal import Protocols
internal import Types

/// The side of a call that its caller has: who it is, what it speaks, and what it has asked for.
///
/// The head stays as it came: what interceptors and the upstream's settings change is `Call.request`.
struct CallerLeg {
    let listener: CallerService
    let peer: Peer
    let stream: any HTTPStream
    /// The head as it came.
    let head: HTTPHead
    let classification: Classification
    /// The REST path by which the caller has come, if it has; the call is one of Connect then, with JSON.
    let rest: RESTBinding?

    /// What the caller speaks, and gets its response in.
    var rpcProtocol: RPCProtocol { classification.rpcProtocol }

    /// How the caller is spoken with.
    var side: CallerSide { rpcProtocol.callerSide }

    /// Reads a response that was made here.
    func makeReader() -> ResponseReader { side.makeReader(codec: classification.codec) }

    /// Whether the response has no body, whatever its head says (RFC 9110 §9.3.2).
    var wantsHeadOnly: Bool {
        let head = head
        return head.method.equals("HEAD")
    }
}
