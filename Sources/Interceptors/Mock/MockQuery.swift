internal import Bytes
internal import Documents
internal import HTTP
internal import Proxy

/// The parameters of a call's query, which are read once, however many rules and texts use them.
///
/// Belongs to the thread of its call.
final class MockQuery {
    private struct Parameter {
        /// The bytes of the first value.
        let first: [UInt8]
        var values: [JSONValue] = []
    }

    private unowned let call: Call
    private lazy var parameters = Self.parameters(of: call)

    /// Creates the parameters of a call, which must exist while they are used.
    init(of call: Call) { self.call = call }

    /// Returns the values of a parameter in order; none if the query does not have it.
    func values(of name: String) -> [JSONValue] { parameters[name]?.values ?? [] }

    /// Returns the first value of a parameter, or `nil` if the query does not have it.
    func first(_ name: String) -> [UInt8]? { parameters[name]?.first }

    private static func parameters(of call: Call) -> [String: Parameter] {
        let request = call.request
        var parameters: [String: Parameter] = [:]
        for pair in request.query.array.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let texts = halves.map { MockURL.unescaped($0, isQuery: true) }
            let value = texts.count > 1 ? texts[1] : []
            let text = JSONValue.string(String(decoding: value, as: UTF8.self))
            parameters[String(decoding: texts[0], as: UTF8.self), default: Parameter(first: value)].values.append(text)
        }
        return parameters
    }
}
