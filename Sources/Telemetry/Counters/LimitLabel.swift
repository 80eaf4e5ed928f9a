/// A limit that somebody ran into, as the label `limit` names it.
public enum LimitLabel: UInt8, CaseIterable, Sendable {
    /// A head was longer than allowed.
    case head
    /// A head had more fields than allowed.
    case fields
    /// A head did not arrive in time.
    case headTimeout
    /// Nothing came of a request's body for longer than allowed.
    case bodyTimeout
    /// A listener had as many connections as allowed.
    case connections
    /// As many calls as allowed were waiting for a connection.
    case waiting
    /// A call has waited for a connection for longer than allowed.
    case waitingTimeout
    /// A call that had stalled ended for one that waited, as an upstream had as many connections as allowed.
    case upstreamConnections
    /// The process had no file descriptor left.
    case descriptors
    /// A message of a request was larger than allowed.
    case requestMessage
    /// A message of a response was larger than allowed.
    case responseMessage
    /// A message that an interceptor wanted to see was larger than allowed.
    case heldMessage
    /// An interceptor has suspended an event for longer than allowed.
    case suspension
    /// An interceptor that limits calls by a key had no room for another value of it.
    case keys
    /// A caller of HTTP/1.1 read nothing of what waited for it, for longer than allowed.
    case stalled
    /// A call has waited for the fetch of another for longer than a cache allows.
    case cacheWait
    /// A response was larger than a cache allows.
    case cacheObject
    /// A response had no room in a cache beside what is used, and what is being fetched.
    case cacheRoom
    /// Calls and unfinished heads held as much memory as allowed.
    case memory
    /// A message or a call was too long to be recorded as a whole.
    case recording
    /// As many calls of an upstream as allowed were under way.
    case upstreamCalls
    /// An address of an upstream failed, and as many were left out as allowed.
    case ejectShare
    /// A request was larger than the file that was to keep it for a retry.
    case spool
    /// The files that keep requests of an upstream for retries were as large as allowed.
    case spoolTotal
    /// A call was under way too long after a reload.
    case generation
    /// A part of a response was too large to be held for a rule of `validate`, or was held for as long as allowed.
    case heldResponse
    /// The messages that a rule or a text of a mock names were too large to be kept for a call.
    case mockMessages
    /// DNS had more addresses, or SRV records more targets, than an upstream may have.
    case addresses

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .head: "head"
        case .fields: "fields"
        case .headTimeout: "head_timeout"
        case .bodyTimeout: "body_timeout"
        case .connections: "connections"
        case .waiting: "waiting"
        case .waitingTimeout: "waiting_timeout"
        case .upstreamConnections: "upstream_connections"
        case .descriptors: "descriptors"
        case .requestMessage: "request_message"
        case .responseMessage: "response_message"
        case .heldMessage: "held_message"
        case .suspension: "suspension"
        case .keys: "keys"
        case .stalled: "stalled"
        case .cacheWait: "cache_wait"
        case .cacheObject: "cache_object"
        case .cacheRoom: "cache_room"
        case .memory: "memory"
        case .recording: "recording"
        case .upstreamCalls: "upstream_calls"
        case .ejectShare: "eject_share"
        case .spool: "spool"
        case .spoolTotal: "spool_total"
        case .generation: "generation"
        case .heldResponse: "held_response"
        case .mockMessages: "mock_messages"
        case .addresses: "addresses"
        }
    }
}
