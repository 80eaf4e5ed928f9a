internal import Bytes
internal import Time

/// What a worker counts of its calls.
///
/// One struct, because a class pays for each access to a property that may reallocate: so a start or an end pays once.
struct CallCounters {
    var methods: MethodTable
    var routes = RouteNames()
    private(set) var inFlight = 0

    init(methodLimit: Int) {
        methods = MethodTable(limit: methodLimit)
    }

    mutating func start(_ path: Span<UInt8>, hash: UInt64?, _ callProtocol: CallProtocol) -> StartedCall {
        inFlight += 1
        var call = StartedCall(callProtocol: callProtocol)
        if callProtocol != .http {
            call.method = methods.find(path, hash: hash ?? path.fnv1a)
        }
        if callProtocol == .http || call.method != 0 { countStart(of: &call) }
        return call
    }

    mutating func admit(
        _ call: inout StartedCall,
        path: Span<UInt8>,
        service: Span<UInt8>,
        method: Span<UInt8>
    ) {
        call.method = methods.admit(path, hash: path.fnv1a, service: service, method: method)
        countStart(of: &call)
    }

    mutating func end(
        _ call: StartedCall,
        _ route: RouteCounter,
        code: UInt8,
        duration: Duration,
        _ messages: MessageCounts,
        span: ExportedSpan?
    ) {
        inFlight -= 1
        var call = call
        if !call.isCounted { countStart(of: &call) }
        methods.end(call, route, code: code, duration: duration, messages, span: span)
    }

    private mutating func countStart(of call: inout StartedCall) {
        methods.start(call.method, call.callProtocol)
        call.isCounted = true
    }
}
