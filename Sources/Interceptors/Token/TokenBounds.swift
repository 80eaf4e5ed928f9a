internal import Bytes
internal import Configuration
internal import Credentials
internal import Events
internal import HTTP
internal import Proxy
internal import RPC
internal import TLS

/// Where a token may go, and for whom.
struct TokenBounds: Sendable {
    /// What is done with a call.
    enum Ruling {
        /// It gets the token.
        case proceed
        /// It goes on as it is.
        case leave
        /// The token must not go where the call goes.
        case withhold(String)
        case reject(RPCError)
    }

    /// What becomes of a token that the caller has sent itself.
    private enum OfCaller: String, Sendable {
        case replace, keep, strip, reject
    }

    private let header: FieldName
    private let ofCaller: OfCaller
    private let hosts: [String]
    private let allowsClearText: Bool
    private let phantom: Phantom?

    init(_ section: Section, header: FieldName, _ acquired: Acquired) {
        self.header = header
        ofCaller = OfCaller(rawValue: section.string("caller")) ?? .replace
        hosts = section.markedStrings("hosts").map { Self.host($0, into: section.diagnostics) }
        section.reportIfEmpty("hosts", write: "a host such as api.example")
        allowsClearText = section.bool("allow_clear_text")
        phantom = section.has("phantom") ? Phantom(section.section("phantom"), acquired) : nil
    }

    /// A host in small letters, which may have a port.
    private static func host(_ text: MarkedString, into diagnostics: Diagnostics) -> String {
        if HostPort(text.text, defaultPort: 0) == nil {
            let advice =
                "write a host such as api.example, or api.example:8443 for one port; wildcards are not supported"
            diagnostics.report("\(Diagnostic.quote(text.text)) is not a valid host; \(advice)", at: text.mark)
        }
        return text.text.lowercased()
    }

    /// The headers whose values nobody may see, beside that of the token.
    var secretHeaders: [FieldName] { phantom.map { [$0.header] } ?? [] }

    func rejection(of upstream: UpstreamSettings) -> String? {
        if !allows(upstream) {
            return "the token cannot be sent to \(upstream.url), which is not in \"hosts\""
        }
        guard !allowsClearText, !upstream.isConfidential else { return nil }
        guard upstream.tls == nil else {
            let problem = "the token would go to \(upstream.url), whose certificate is not verified (tls.insecure)"
            return "\(problem); add allow_clear_text: true to allow it"
        }
        return "the token would go to \(upstream.url) in clear text; add allow_clear_text: true to allow it"
    }

    private func allows(_ upstream: UpstreamSettings) -> Bool {
        guard !hosts.isEmpty, case .tcp(let address) = upstream.url.endpoint else { return true }
        return hosts.contains(address.host.lowercased()) || hosts.contains("\(address)".lowercased())
    }

    /// What is done with a call; a token of the caller's that shall not go on is taken out.
    func ruling(on call: Call) -> Ruling {
        let request = call.request
        let rejection = rejection(of: call)
        // Where no token goes the phantom does not either, and nobody has to show it.
        if let phantom, let error = phantom.swap(in: request), rejection == nil { return .reject(error) }
        if request.first(header) != nil {
            switch ofCaller {
            case .keep: return .leave
            case .reject:
                let name = String(decoding: header.bytes, as: UTF8.self)
                return .reject(RPCError(.permissionDenied, "callers must not send the header \(name)"))
            case .strip: request.remove(header)
            case .replace: break
            }
        }
        return rejection.map { .withhold($0) } ?? .proceed
    }

    private func rejection(of call: Call) -> String? {
        guard let upstream = call.upstream else { return nil }
        let name = upstream.settings.name
        if !upstream.isConfidential, !allowsClearText {
            return "the token cannot be sent to \(name) in clear text"
        }
        guard !hosts.isEmpty else { return nil }
        if !allows(upstream.settings) { return "the token cannot be sent to \(name), which is not in its hosts" }
        // Behind one address there may be many hosts, and here the caller says which.
        guard upstream.authority == nil, case .tcp(let address) = upstream.settings.url.endpoint else { return nil }
        let request = call.request
        return allows(authority: request.authority, port: address.port)
            ? nil : "the token cannot be sent to the host of the request, which is not in its hosts"
    }

    /// Whether the host that a caller names is one of those; without a port it has that of the upstream.
    private func allows(authority: Span<UInt8>, port: UInt16) -> Bool {
        let host = Host.withoutPort(authority).string.lowercased()
        let written = authority.string.lowercased()
        return hosts.contains {
            $0.isSame(as: host) || $0.isSame(as: written) || $0.isSame(as: "\(host):\(port)") && !written.contains(":")
        }
    }
}

/// What a caller has to show to get the token in its place.
private struct Phantom: Sendable {
    let header: FieldName
    /// Where it could not be read, it is empty, and nobody gets the token.
    private let value: [UInt8]

    init(_ section: Section, _ acquired: Acquired) {
        header = HeaderName.checked(section.string("header"), at: "header", of: section)
        let secret = section.section("value")
        value = Secret(secret).flatMap { acquired.text(of: $0, secret) } ?? []
        if secret.has("value"), value.isEmpty {
            secret.report("the phantom token is empty; write a value", at: "value")
        }
    }

    /// Takes the phantom token out of a request; an error if it is not there.
    func swap(in request: HTTPHead) -> RPCError? {
        guard let index = request.first(header) else {
            return RPCError(.unauthenticated, "the request has no phantom token")
        }
        if request.first(header, from: index + 1) != nil { return .twice(header) }
        guard !value.isEmpty, ConstantTime.areEqual(request.value(at: index).withoutBearer, value.span) else {
            return RPCError(.unauthenticated, "the request has the wrong phantom token")
        }
        request.remove(header)
        return nil
    }
}

extension RPCError {
    /// A header that tells who the caller is comes twice.
    static func twice(_ name: FieldName) -> RPCError {
        let name = String(decoding: name.bytes, as: UTF8.self)
        return RPCError(.invalidArgument, "the header \(name) occurs twice; send it once, because it selects the token")
    }
}
