internal import Configuration
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry

/// Whether a call has to be translated for its upstream.
extension Call {
    /// Chooses what the upstream is spoken to in.
    ///
    /// - Returns: what the caller is told, if the call cannot be translated.
    func chooseProtocol(_ upstream: Upstream) -> RPCError? {
        guard !upstream.families.isEmpty else { return nil }
        do throws(RPCError) {
            upstreamLeg.spoken = try rpcProtocol.translated(for: upstream.families)
        } catch {
            return error.named("upstream \(upstream.settings.name)")
        }
        // Before a connection is taken, which a call that comes to nothing would cost.
        if upstreamLeg.isTranslated, upstreamLeg.isQuery {
            do throws(RPCError) { _ = try request.queryMessage() } catch { return error }
        }
        if let label = TranslationLabel(from: rpcProtocol, to: upstreamLeg.spoken) { worker.counters.translated(label) }
        return nil
    }

    /// What becomes of the call at the border to its upstream, in words; none if nothing does.
    var translationText: String? {
        let request = request
        guard upstreamLeg.isTranslated, let index = request.first(.contentType) else { return nil }
        let codec = String(decoding: upstreamLeg.spoken.codecName(in: request.value(at: index)), as: UTF8.self)
        return "\(rpcProtocol.name)/\(codec) → \(upstreamLeg.spoken.name)/\(codec)"
    }
}

extension TranslationLabel {
    /// The label of a translation; none if both are of one family.
    fileprivate init?(from caller: RPCProtocol, to upstream: RPCProtocol) {
        switch (caller.family, upstream.family) {
        case (.connect, .grpc): self = .connectToGRPC
        case (.connect, .grpcWeb): self = .connectToGRPCWeb
        case (.grpc, .grpcWeb): self = .grpcToGRPCWeb
        case (.grpcWeb, .grpc): self = .grpcWebToGRPC
        default: return nil
        }
    }
}
