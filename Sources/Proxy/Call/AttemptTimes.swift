internal import Bytes
internal import RPC
internal import Telemetry
internal import Time

/// Where the time of one attempt has gone.
struct AttemptTimes {
    /// When the attempt began to wait for a connection.
    let began: Instant
    /// When it had one; nil if it never had.
    let connected: Instant?
    /// When the head of its response came; nil if none did.
    let responded: Instant?
    /// What it waited for while its connection was made; nothing if the connection was there before.
    let steps: ConnectionTimes.Steps
    /// Where it went, if it went anywhere.
    let address: SocketAddress?
    let isHedge: Bool
    /// The HTTP status of its response; nil if none came.
    let status: Int?
    /// What its response ended with, if that is not what the caller got.
    let code: RPCCode?
    /// What became of it, and when; nil while it is under way.
    var end: (result: AttemptResult, time: Instant)?
}
