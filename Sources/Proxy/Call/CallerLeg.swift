internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Types

/// The side of a call that its caller has: who it is, what it speaks, and what it has asked for.
///
/// The head stays as it came: what interceptors and the upstream's settings change is `Call.request`.
struct CallerLeg {
    let listener: CallerService
    let peer: Peer
    let stream: any HTTPStream
    /// The head as it came; of a REST path, that of the Connect call that it has become.
    let head: HTTPHead
    let classification: Classification
    /// How the caller is spoken with, if it has used a REST path: the call is one of Connect then, with JSON.
    let rest: REST?

    /// A caller that has used a REST path.
    struct REST {
        let stream: RESTResponseStream
        /// The method and the path as the caller has sent them.
        let httpMethod: [UInt8], path: [UInt8]
        /// The error of the head, of which the chain hears.
        let error: RPCError?

        /// The path.
        var binding: RESTBinding { stream.binding }
    }

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
