internal import Bytes
internal import Configuration
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC

/// One call that a named call is made for: its request gives the parameters, and it gets the result.
final class ServedCall: LocalService {
    private let exchange: LocalExchange
    private let server: CallServer
    private var messages = 0
    private var arguments: CallArguments?
    private var ticket: SharedFetches.Ticket?

    init(_ exchange: LocalExchange, _ server: CallServer) {
        (self.exchange, self.server) = (exchange, server)
    }

    // MARK: The request

    func opened() {}

    /// A second one is an error.
    var wantsMessage: Bool { messages < 2 }

    func received(_ message: Span<UInt8>) {
        messages += 1
        guard messages == 1 else { return fail(.invalidArgument, "the request has several messages; send one") }
        do throws(RPCError) {
            arguments = try server.entry.call.parameters.arguments(message, of: exchange.call)
        } catch {
            exchange.end(error)
        }
    }

    func receivedEnd() {
        guard let arguments else { return fail(.invalidArgument, "the request has no message") }
        let (named, call) = (server.entry.call, exchange.call)
        let request: FetchRequest
        do throws(NamedCallError) {
            request = try named.render(for: call, arguments)
        } catch {
            return fail(error.isOfCaller ? .invalidArgument : .internal, error.text)
        }
        ticket = server.fetches.fetch(
            request,
            from: server.entry.server,
            limit: min(named.settings.limit, exchange.messageLimit),
            timeout: server.timeout,
            isShared: false
        ) { [weak self] in self?.fetched($0) }
    }

    func resumed() {}

    func ended() {
        ticket?.cancel()
        ticket = nil
    }

    var heldBytes: Int { ticket?.heldBytes ?? 0 }

    // MARK: The response

    private func fetched(_ outcome: Result<FetchedResponse, FetchError>) {
        switch outcome {
        case .success(let response) where exchange.call.rpcProtocol == .http: respondPlain(response)
        case .success(let response): respond(response)
        case .failure(let error):
            if let upstreamError = error.upstreamError { return exchange.fail(upstreamError) }
            if error.code == .resourceExhausted, exchange.messageLimit < server.entry.call.settings.limit {
                let text = "the response exceeds limits.held_message (\(exchange.messageLimit) bytes)"
                return exchange.fail(.untranslatedResponse(RPCError(.resourceExhausted, text)))
            }
            fail(error.code, error.text)
        }
    }

    /// A response of plain HTTP passes as it is, or the part that is the result.
    private func respondPlain(_ response: FetchedResponse) {
        guard server.result != nil, response.isSuccess else {
            let fields = response.fields.map { (Array($0.name.utf8), $0.value) }
            return exchange.respond(status: response.status, headers: fields, body: response.body.span)
        }
        do throws(RPCError) {
            let json = try result(of: response)
            let type = (Array("content-type".utf8), Array("application/json".utf8))
            exchange.respond(status: response.status, headers: [type], body: json.span)
        } catch {
            exchange.end(error)
        }
    }

    private func respond(_ response: FetchedResponse) {
        do throws(RPCError) {
            guard response.isSuccess else { throw exchange.call.error(of: response) }
            let message = try message(of: response)
            exchange.send(message.span)
            exchange.end(nil)
        } catch {
            exchange.end(error, trailers: response.retryAfter)
        }
    }

    /// The result as the message that the method responds with.
    private func message(of response: FetchedResponse) throws(RPCError) -> [UInt8] {
        let call = exchange.call
        if response.body.isEmpty, server.result == nil { return try call.emptyMessage(.response) }
        let json = try result(of: response)
        // A member that the type does not have is of a newer version of the API.
        return try call.typedMessage(json: json.span, .response, dropsUnknown: true)
    }

    /// The result as JSON.
    private func result(of response: FetchedResponse) throws(RPCError) -> [UInt8] {
        let value: JSONValue
        do throws(JSONError) {
            value = try exchange.call.parsed(response.body.span)
        } catch {
            guard !error.isTooLarge else {
                throw RPCError(.resourceExhausted, "call \(server.name): the response cannot be read: \(error.text)")
            }
            let place = "line \(error.line), column \(error.column)"
            throw RPCError(.internal, "call \(server.name): the response is not valid JSON: \(error.text), \(place)")
        }
        guard let pointer = server.result else { return response.body }
        guard let part = value.value(at: pointer) else {
            let place = pointer.tokens.map { "/\($0)" }.joined()
            throw RPCError(.internal, "call \(server.name): the response has no \(place)")
        }
        return part.bytes
    }

    private func fail(_ code: RPCCode, _ text: String) {
        exchange.end(RPCError(code, "call \(server.name): \(text)"))
    }
}

extension FetchedResponse {
    fileprivate var isSuccess: Bool { 200..<300 ~= status }

    /// When the server may be asked again, as it says.
    fileprivate var retryAfter: [(name: [UInt8], value: [UInt8])] {
        fields.filter { $0.name == "retry-after" }.map { (Array($0.name.utf8), $0.value) }
    }
}
