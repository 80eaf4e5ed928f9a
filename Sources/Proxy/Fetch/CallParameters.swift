internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
public import RPC

/// The parameters of a named call: finds their values in the requests of callers.
///
/// Safe on any thread.
public struct CallParameters: Sendable {
    private struct Parameter: Sendable {
        let name: String
        /// The name in ProtoJSON, by which a request may have it as well.
        let key: String
        let isRequired: Bool
        let fallback: CallArguments.Value?
        let choices: [String]
    }

    private let parameters: [Parameter]

    init(_ settings: [CallParameterSettings]) {
        parameters = settings.map { setting in
            let fallback = setting.fallback.flatMap { node in
                node.text.map { CallArguments.Value(text: Array($0.utf8), json: node.json) }
            }
            return Parameter(
                name: setting.name,
                key: setting.key,
                isRequired: setting.isRequired,
                fallback: fallback,
                choices: setting.choices
            )
        }
    }

    /// Their names, in the order of the file.
    public var names: [String] { parameters.map(\.name) }

    /// Those without which nothing is sent.
    public var required: [String] { parameters.filter(\.isRequired).map(\.name) }

    /// Whether a parameter may have no value.
    func canBeAbsent(_ index: Int) -> Bool { !parameters[index].isRequired && parameters[index].fallback == nil }

    /// The values where no request gives any; only if none is required.
    var defaults: CallArguments { CallArguments(parameters.map(\.fallback)) }

    // MARK: Of a request

    /// The values that a request gives.
    ///
    /// - Parameters:
    ///   - message: the message of an RPC, in the codec of the call; the whole body in plain HTTP.
    ///   - call: the call, whose query gives values in plain HTTP.
    /// - Returns: the values, and the defaults of others.
    /// - Throws: an error for the caller, with the code `invalid_argument`: the message is no object, or a value is missing,
    ///   unknown, not allowed, or none that a text can have.
    public func arguments(_ message: Span<UInt8>, of call: Call) throws(RPCError) -> CallArguments {
        var values = [CallArguments.Value?](repeating: nil, count: parameters.count)
        if call.rpcProtocol == .http {
            let request = call.request
            try add(query: request.query, to: &values)
            if message.count > 0 {
                try checkType(of: call)
                try add(try json(message, call), to: &values)
            }
        } else {
            try add(try json(message, call), to: &values)
        }
        for (index, parameter) in parameters.enumerated() where values[index] == nil {
            guard !parameter.isRequired else { throw Self.error("the parameter \(parameter.name) is required") }
            values[index] = parameter.fallback
        }
        return CallArguments(values)
    }

    /// Whoever sends a form from a web page, which browsers let everybody do, sends no JSON.
    private func checkType(of call: Call) throws(RPCError) {
        let received = call.received
        if let index = received.first(.contentType), received.value(at: index).isJSONType { return }
        throw RPCError(.invalidArgument, "the body is not JSON by its content type", httpStatus: 415)
    }

    private func json(_ message: Span<UInt8>, _ call: Call) throws(RPCError) -> JSONValue {
        // In JSON an empty message may have no bytes.
        if message.count == 0, call.codec != .proto { return .object([]) }
        var flaw: MessageFlaw?
        let isPlain = call.rpcProtocol == .http
        let value = isPlain ? call.parsed(message, &flaw) : call.json(message, .request, &flaw)
        if let flaw, flaw.isTooLarge { throw RPCError(flaw.code, "the request cannot be read: \(flaw.text)") }
        guard case .object? = value, let value else {
            throw Self.error(
                flaw.map { "the request is not valid for its type: \($0.text)" } ?? "the request is no JSON object"
            )
        }
        return value
    }

    private func add(_ message: JSONValue, to values: inout [CallArguments.Value?]) throws(RPCError) {
        guard case .object(let members) = message else { return }
        for member in members {
            let index = try index(of: member.name)
            let json = member.value.bytes
            switch member.value {
            case .null: continue
            case .string(let text): try set(index, .init(text: Array(text.utf8), json: json), in: &values)
            case .bool, .integer, .number: try set(index, .init(text: json, json: json), in: &values)
            case .array, .object:
                let name = parameters[index].name
                throw Self.error("the parameter \(name) cannot be an array or an object; send a single value")
            }
        }
    }

    private func add(query: Span<UInt8>, to values: inout [CallArguments.Value?]) throws(RPCError) {
        var position = 0
        while let parameter = QueryParameter(in: query, at: &position) {
            guard !parameter.range.isEmpty else { continue }
            let index = try index(of: try query.extracting(parameter.name).formText(of: "the query"))
            let name = parameters[index].name
            let text = try query.extracting(parameter.value).formText(of: "the parameter \(name)")
            try set(index, .init(text: Array(text.utf8), json: JSONValue.string(text).bytes), in: &values)
        }
    }

    private func index(of name: String) throws(RPCError) -> Int {
        let key = CallParameterSettings.key(of: name)
        if let index = parameters.firstIndex(where: { $0.name == name }) { return index }
        if let index = parameters.firstIndex(where: { $0.key == key }) { return index }
        let advice = parameters.isEmpty ? "there are none" : Suggestion.text(for: name, among: names)
        throw Self.error("the parameter \(Diagnostic.quote(name)) is unknown; \(advice)")
    }

    private func set(
        _ index: Int,
        _ value: CallArguments.Value,
        in values: inout [CallArguments.Value?]
    ) throws(RPCError) {
        let parameter = parameters[index]
        guard values[index] == nil else { throw Self.error("the request has the parameter \(parameter.name) twice") }
        // The value is not repeated: it goes into logs.
        if !parameter.choices.isEmpty, !parameter.choices.contains(where: { value.text.elementsEqual($0.utf8) }) {
            let choices = parameter.choices.joined(separator: ", ")
            throw Self.error("the parameter \(parameter.name) must be one of: \(choices)")
        }
        values[index] = value
    }

    private static func error(_ text: String) -> RPCError { RPCError(.invalidArgument, text) }
}
