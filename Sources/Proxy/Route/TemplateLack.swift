internal import Bytes
public import HTTP
internal import Protocols

/// Why a template has no value for a call, where a value is needed that nobody else could have.
public enum TemplateLack: Error, Equatable, Sendable {
    /// The call does not have a part of it, has an empty one, or one that is not the text that it has to be.
    case missing
    /// The call has a header twice, and it cannot be known which one counts.
    case ambiguous(FieldName)
}

extension Template {
    /// Why the call does not have all parts of the value, if it does not.
    public func lack(for call: Call?) -> TemplateLack? {
        guard let call else { return requiresCall ? .missing : nil }
        let request = call.request
        var isMissing = false
        for piece in pieces {
            switch piece {
            case .text, .callID, .parameter: break
            case .header(let name):
                guard let index = request.first(name) else {
                    isMissing = true
                    continue
                }
                if request.first(name, from: index + 1) != nil { return .ambiguous(name) }
                if request.value(at: index).count == 0 { isMissing = true }
            case .host: if call.received.authority.count == 0 { isMissing = true }
            case .upstreamHost: if request.authority.count == 0 { isMissing = true }
            case .path: if request.path.count == 0 { isMissing = true }
            case .service, .method: if call.rpcProcedure == nil { isMissing = true }
            case .peerUser, .peerGroup: if call.peer.credentials == nil { isMissing = true }
            }
        }
        return isMissing ? .missing : nil
    }
}

extension [Template] {
    /// The first lack of one of them; what is ambiguous counts before what is missing.
    public func lack(for call: Call?) -> TemplateLack? {
        let lacks = compactMap { $0.lack(for: call) }
        return lacks.first { $0 != .missing } ?? lacks.first
    }
}
