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
        guard let end = JSON.error(in: payload), case .object = end else { return nil }
        guard case .object(let members)? = end["metadata"] else { return [] }
        return members.flatMap { member -> [(name: [UInt8], value: [UInt8])] in
            guard case .array(let values) = member.value else { return [] }
            let name = Array(member.name.lowercased().utf8)
            guard !KnownField(name.span).isOutcome else { return [] }
            return values.compactMap(\.string).map { (name, Array($0.utf8)) }
        }
    }

    /// Moves the trailers of a unary response out of its head, where they have a prefix.
    ///
    /// - Throws: what the caller is told about more than it can be given.
    static func moveTrailers(of head: HTTPHead, to trailers: HTTPHead) throws(RPCError) {
        var index = 0
        while index < head.count {
            let name = head.name(at: index)
            guard name.hasPrefix(prefix) else {
                index += 1
                continue
            }
            let rest = name.extracting(prefix.count...)
            if !KnownField(rest).isOutcome { try trailers.add(foreign: rest, head.value(at: index)) }
            head.remove(at: index)
        }
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
