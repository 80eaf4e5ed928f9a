internal import Bytes
internal import Configuration
internal import Events
private import Glibc
internal import HTTP
internal import Protocols
package import Time

/// A request that a rehearsal makes: what a caller would send.
package struct RehearsedRequest {
    /// Who calls over a Unix socket.
    package struct Caller: Equatable {
        let uid: UInt32
        let gid: UInt32
        let pid: Int32
        let unit: String?

        /// Names a caller.
        package init(uid: UInt32, gid: UInt32, pid: Int32, unit: String?) {
            (self.uid, self.gid, self.pid, self.unit) = (uid, gid, pid, unit)
        }
    }

    /// The HTTP method.
    package var method: String
    /// The path, with the query if there is one.
    package var target: String
    /// The header fields.
    package var headers: [(name: String, value: String)]
    /// The messages, or the body in plain HTTP.
    package var messages: [[UInt8]] = []
    /// Who calls over a Unix socket; by default somebody over TCP, or this user if the listener is a Unix socket.
    package var caller: Caller?
    /// The number of the listener that it comes to.
    package var listener = 0
    /// After which time the caller leaves.
    package var cancelAfter: Duration?

    /// Describes a request.
    package init(method: String, target: String, headers: [(name: String, value: String)] = []) {
        (self.method, self.target, self.headers) = (method, target, headers)
    }

    /// The head as it comes from a connection.
    var head: HTTPHead {
        let head = HTTPHead()
        head.setMethod(Array(method.utf8).span)
        head.setTarget(Array(target.utf8).span)
        for (name, value) in headers {
            let (name, value) = (Array(name.utf8), Array(value.utf8))
            if name.span.equalsIgnoringCase("host") {
                head.setAuthority(value.span)
            } else if name.span.equalsIgnoringCase("content-length") {
                // The length is that of the message.
                continue
            } else {
                head.add(name: name.span, value: value.span)
            }
        }
        // What most callers would say.
        if head.first(.contentType) == nil, method == "POST" {
            head.add(FieldName("content-type"), Array("application/json".utf8).span)
        }
        head.removeConnectionFields()
        head.normalizePath()
        head.joinCookies()
        return head
    }

    /// The messages as they stand in a body.
    func body(in rpcProtocol: RPCProtocol) -> ByteQueue {
        let queue = ByteQueue()
        for message in messages { queue.append(message: message.span, in: rpcProtocol) }
        return queue
    }

    /// Whoever calls.
    func peer(of listener: ListenerSettings) -> Peer {
        if let caller {
            let credentials = PeerCredentials(uid: caller.uid, gid: caller.gid, pid: caller.pid)
            let group = Array("0::/system.slice/\(caller.unit ?? "")\n".utf8)
            let unit = caller.unit.flatMap { _ in PeerUnit(of: max(1, caller.pid)) { _ in group } }
            return Peer(address: nil, credentials: credentials, unit: unit)
        }
        // Whoever rehearses is the caller.
        return switch listener.address {
        case .unix, .abstract, .systemd:
            Peer(address: nil, credentials: PeerCredentials(uid: getuid(), gid: getgid(), pid: getpid()))
        case .tcp: Peer(address: .ipv4([127, 0, 0, 1], port: 0), credentials: nil)
        }
    }
}
