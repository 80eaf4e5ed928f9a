internal import Bytes
public import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC

/// A compiled `when` or `match`: all that is given must hold.
public final class Condition: Sendable {
    private let services: [[UInt8]]
    private let methods: [[UInt8]]
    private let httpMethods: [[UInt8]]
    private let paths: [[UInt8]]
    private let hosts: [[UInt8]]
    private let headers: [HeaderCondition]
    private let users: [UInt32]
    private let groups: [UInt32]
    private let units: [[UInt8]]
    /// A bit for each protocol that is meant, by its raw value; 0 for all.
    private let protocols: UInt32
    /// A bit for each outcome that is meant, by the raw value of its code; 0 for all.
    ///
    /// `holds` says nothing of it, since it is asked before there is one.
    let codes: UInt32
    /// Compiles settings; a pattern that is malformed is reported.
    public init(_ settings: ConditionSettings, into diagnostics: Diagnostics) {
        services = settings.services.map { Array($0.utf8) }
        methods = settings.methods.map { Array($0.utf8) }
        httpMethods = settings.httpMethods.map { Array($0.utf8) }
        paths = settings.paths.map { Array($0.utf8) }
        hosts = settings.hosts.map { $0.utf8.map(\.lowercasedASCII) }
        headers = settings.headers.compactMap { HeaderCondition($0, into: diagnostics) }
        users = settings.peerUsers
        groups = settings.peerGroups
        units = settings.peerUnits.map { Array($0.utf8) }
        let protocols = RPCProtocol.allCases.map { ("\($0.name)", $0.rawValue) } + [("rest", Self.rest)]
        self.protocols = Self.bits(settings.protocols, among: protocols)
        codes = Self.bits(settings.codes, among: RPCCode.allCases.map { ("\($0.name)", $0.rawValue) })
    }

    /// The bit of calls by REST paths, which are of another protocol beside.
    private static let rest = UInt8(RPCProtocol.allCases.count)

    private static func bits(_ names: [String], among all: [(name: String, bit: UInt8)]) -> UInt32 {
        all.reduce(0) { bits, one in names.contains(one.name) ? bits | 1 << UInt32(one.bit) : bits }
    }

    /// Whether it is for calls only that have no streams of messages.
    var isUnary: Bool {
        let unary = [RPCProtocol.connectUnary, .connectGet, .http].reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }
        return protocols != 0 && protocols & ~unary == 0
    }

    /// Whether it asks for the systemd unit of the caller.
    var asksForUnits: Bool { !units.isEmpty }

    /// Whether services or methods are among what is given.
    var namesProcedure: Bool { !services.isEmpty || !methods.isEmpty }

    /// Whether the call is one of those meant, as far as its request tells.
    public func holds(for call: Call) -> Bool {
        let request = call.request
        return protocolHolds(call) && procedureHolds(call) && httpMethodHolds(call) && pathHolds(call)
            && hostHolds(call)
            && peerHolds(call.peer) && headers.allSatisfy { $0.holds(for: request) }
    }

    /// What of a call is not as is asked, for people; none if all is.
    public func lack(of call: Call) -> String? {
        let request = call.request
        if !procedureHolds(call) { return "another method" }
        if !pathHolds(call) { return "another path" }
        if !protocolHolds(call) { return "another protocol" }
        if !httpMethodHolds(call) { return "another HTTP method" }
        if !hostHolds(call) { return "another host" }
        if !peerHolds(call.peer) { return "another caller" }
        return headers.first { !$0.holds(for: request) }.map { header in
            "another header \(String(decoding: header.name.bytes, as: UTF8.self))"
        }
    }

    /// Whether the path, and the method, are those that it asks for, whatever else it asks.
    public func reaches(_ call: Call) -> Bool { procedureHolds(call) && pathHolds(call) }

    private func protocolHolds(_ call: Call) -> Bool {
        guard protocols != 0 else { return true }
        let bit = call.callerLeg.rest == nil ? call.rpcProtocol.rawValue : Self.rest
        return protocols & 1 << UInt32(bit) != 0
    }

    private func procedureHolds(_ call: Call) -> Bool {
        guard namesProcedure else { return true }
        guard let procedure = call.rpcProcedure else { return false }
        let request = call.request
        let path = request.path
        return (services.isEmpty || services.contains { path.extracting(procedure.service).equals($0) })
            && (methods.isEmpty || methods.contains { path.extracting(procedure.method).equals($0) })
    }

    private func httpMethodHolds(_ call: Call) -> Bool {
        guard !httpMethods.isEmpty else { return true }
        if let rest = call.callerLeg.rest { return httpMethods.contains(rest.httpMethod) }
        let received = call.received
        return httpMethods.contains { received.method.equals($0) }
    }

    private func pathHolds(_ call: Call) -> Bool {
        guard !paths.isEmpty else { return true }
        let request = call.request
        return request.withNormalPath { path in
            paths.contains { $0.last == UInt8(ascii: "/") ? path.hasPrefix($0) : path.equals($0) }
        }
    }

    private func hostHolds(_ call: Call) -> Bool {
        guard !hosts.isEmpty else { return true }
        let received = call.received
        let host = Host.withoutPort(received.authority)
        return hosts.contains { expected in
            guard expected.first == UInt8(ascii: "*") else { return Host.equal(host, expected.span) }
            let suffix = expected.count - 1
            guard host.count > suffix else { return false }
            return Host.equal(
                host.extracting(host.count - suffix..<host.count),
                expected.span.extracting(1..<expected.count)
            )
        }
    }

    private func peerHolds(_ peer: Peer) -> Bool {
        guard !users.isEmpty || !groups.isEmpty || !units.isEmpty else { return true }
        guard let credentials = peer.credentials else { return false }
        return (users.isEmpty || users.contains(credentials.uid))
            && (groups.isEmpty || groups.contains(credentials.gid))
            && (units.isEmpty || peer.unitName.map(units.contains) ?? false)
    }
}
