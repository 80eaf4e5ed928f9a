internal import Bytes
internal import Documents
internal import Protocols
internal import Proxy

/// What the rules and texts of a mock go by: a call, and the message of it that came last.
struct MockContext {
    let call: Call
    let worker: WorkerServices
    /// The message of the request that came last, if it is JSON.
    var message: JSONValue?
    /// The same as it came.
    var payload: [UInt8] = []
    /// Its number, from 1.
    var number = 0
    /// The parts of the path that the rule names.
    var captures: [String: [UInt8]] = [:]

    init(_ call: Call, on worker: WorkerServices) {
        (self.call, self.worker) = (call, worker)
    }

    /// Whether the message is the ProtoJSON of a known type.
    var isProtoJSON: Bool { call.hasMessageTypes }

    /// A message of the request has come.
    mutating func received(_ payload: Span<UInt8>) {
        number += 1
        self.payload = payload.array
        message = call.rpcProtocol == .http ? try? JSON.parse(payload) : call.json(payload, .request)
    }

    /// The value in a place of the message, if there is one.
    func value(at pointer: JSONPointer) -> JSONValue? {
        isProtoJSON ? message?.valueOfProtoJSON(at: pointer) : message?.value(at: pointer)
    }
}
