internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// What an upstream says in Connect about the end of a call.
enum ConnectEnd {
    private static let prefix = Array("trailer-".utf8)

    /// The metadata of the JSON that ends a stream, as trailers; none if it is no object.
    static func metadata(_ payload: Span<UInt8>) -> [(name: [UInt8], value: [UInt8])]? {
        guard let end = try? JSON.parse(payload), case .object = end else { return nil }
        guard case .object(let members)? = end["metadata"] else { return [] }
        return members.flatMap { member -> [(name: [UInt8], value: [UInt8])] in
            guard case .array(let values) = member.value else { return [] }
            let name = Array(member.name.lowercased().utf8)
            guard !TranslatedEnd.outcome.contains(name) else { return [] }
            return values.compactMap(\.string).map { (name, Array($0.utf8)) }
        }
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
        let outcome = Outcome(conclusion)
        guard var error = outcome.error(trailers: HTTPHead()) else { return nil }
        if outcome.json == nil {
            error.message = TranslatedEnd.message(of: conclusion, wasSaid: false, status: status)
        }
        return error
    }
}
