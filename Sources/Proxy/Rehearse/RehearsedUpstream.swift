internal import Bytes
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
package import Time
internal import Types

/// A request as it went upstream in one attempt.
package struct RehearsedAttempt {
    /// The upstream.
    package let upstream: String
    /// The time since the call began.
    package let time: Duration
    package let method: String
    /// The path with the query.
    package let target: String
    package let headers: [(name: String, value: String)]
    /// The messages of the request as JSON where that is known, else as they are.
    package internal(set) var messages: [[UInt8]] = []
}

/// What stands for an upstream in a rehearsal: notes what each attempt sends, and has a service respond.
final class RehearsedUpstream {
    private let name: String
    private let opening: LocalUpstream.Opening?
    private let lacks: RehearsalLacks
    private(set) var attempts: [RehearsedAttempt] = []
    /// When the call began.
    var start = Instant.start

    init(_ name: String, _ opening: LocalUpstream.Opening?, _ lacks: RehearsalLacks) {
        (self.name, self.opening, self.lacks) = (name, opening, lacks)
    }

    func forgetAttempts() { attempts = [] }

    /// Serves an attempt, whose request would be spoken to the upstream in `spoken`.
    func open(_ exchange: LocalExchange, _ spoken: RPCProtocol, _ conversion: MessageConversion?) -> any LocalService {
        let call = exchange.call
        let head = HTTPHead()
        if spoken != call.rpcProtocol || conversion != nil {
            _ = head.translate(call.request, from: call.rpcProtocol, to: spoken)
            if let conversion { head.convert(to: conversion.codec, in: spoken) }
        } else {
            head.copy(call.request)
        }
        attempts.append(
            RehearsedAttempt(
                upstream: name,
                time: call.now - start,
                method: head.method.string,
                target: head.target.string,
                headers: head.pairs.map { (String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)) }
                    + [("host", head.authority.string)]
            )
        )
        let index = attempts.count - 1
        guard let service = opening?(exchange) else {
            let text = "no response for upstream \(name); add it to given.upstreams"
            lacks.note(text)
            return AbsentService(exchange, RPCError(.unavailable, text))
        }
        return NotingService(service) { [unowned self] payload in
            let json = call.rpcProtocol == .http ? nil : call.json(payload, .request)?.bytes
            attempts[index].messages.append(json ?? payload.array)
        }
    }
}

extension Call {
    /// Begins an attempt on what stands for an upstream in a rehearsal; an explained call goes no further.
    func startRehearsed() {
        guard case .rehearsed(let upstream, let part) = route.destination else { return }
        if upstreamLeg.service == nil {
            let (spoken, conversion) = (upstreamLeg.spoken, upstreamLeg.conversion)
            upstreamLeg.service = { part.open($0, spoken, conversion) }
            // What responds speaks gRPC, in the codec of the caller.
            if spoken != .http { upstreamLeg.spoken = .grpc }
            upstreamLeg.conversion = nil
            upstreamLeg.restBindings = []
        }
        start(on: upstream)
    }
}

/// Notes the messages of a request on their way to a service.
private final class NotingService: LocalService {
    private let service: any LocalService
    private let note: (Span<UInt8>) -> Void

    init(_ service: any LocalService, note: @escaping (Span<UInt8>) -> Void) {
        (self.service, self.note) = (service, note)
    }

    func opened() { service.opened() }
    var wantsMessage: Bool { service.wantsMessage }
    func received(_ message: Span<UInt8>) {
        note(message)
        service.received(message)
    }
    func receivedEnd() { service.receivedEnd() }
    func resumed() { service.resumed() }
    func ended() { service.ended() }
    var heldBytes: Int { service.heldBytes }
}

/// Ends every call with an error.
private final class AbsentService: LocalService {
    private let exchange: LocalExchange
    private let error: RPCError

    init(_ exchange: LocalExchange, _ error: RPCError) { (self.exchange, self.error) = (exchange, error) }

    func opened() { exchange.end(error) }
    var wantsMessage: Bool { false }
    func received(_ message: Span<UInt8>) {}
    func receivedEnd() {}
    func resumed() {}
    func ended() {}
}
