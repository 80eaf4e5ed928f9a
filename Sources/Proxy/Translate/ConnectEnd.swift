internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// What an upstream says in Connect about the end of a call.
enum ConnectEnd {
    private static let prefix = Array("trailer-".utf8)

    /// The metadata of the JSON that ends a stream, as trailers; what cannot be a field is left out.
    static func metadata(_ payload: Span<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        guard case .object(let members)? = (try? JSON.parse(payload))?["metadata"] else { return [] }
        return members.flatMap { member -> [(name: [UInt8], value: [UInt8])] in
            guard case .array(let values) = member.value else { return [] }
            let name = member.name.lowercased()
            return values.compactMap(\.string).filter { isField(name, $0) }.map { (Array(name.utf8), Array($0.utf8)) }
        }
    }

    /// Whether a name and a value can stand in trailers, and say nothing about the outcome.
    private static func isField(_ name: String, _ value: String) -> Bool {
        FieldName.isValid(name) && !TranslatedEnd.outcome.contains(Array(name.utf8))
            && value.utf8.allSatisfy { 0x20..<0x7f ~= $0 || $0 == 0x09 || $0 >= 0x80 }
    }

    /// Removes the trailers of a unary response from its head, where they have a prefix.
    static func removeTrailers(_ head: HTTPHead) -> [(name: [UInt8], value: [UInt8])] {
        var trailers: [(name: [UInt8], value: [UInt8])] = []
        for index in (0..<head.count).reversed() where head.name(at: index).hasPrefix(prefix) {
            trailers.append((Array(head.name(at: index).array.dropFirst(prefix.count)), head.value(at: index).array))
            head.remove(at: index)
        }
        return trailers.reversed().filter { !$0.name.isEmpty && !TranslatedEnd.outcome.contains($0.name) }
    }

    /// The error of a conclusion, for a response with this HTTP status.
    ///
    /// - Returns: none for a success.
    static func error(_ conclusion: Conclusion, status: Int) -> RPCError? {
        guard var error = Outcome(conclusion).error(trailers: HTTPHead()) else { return nil }
        if case .code = conclusion, error.message.isEmpty {
            error.message = TranslatedEnd.message(of: conclusion, wasSaid: false, status: status)
        }
        return error
    }
}
