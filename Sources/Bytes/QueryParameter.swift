/// Where one parameter of a query lies (URL Standard §5.1): `name=value`, or the name alone.
public struct QueryParameter {
    /// The parameter as a whole; may be empty.
    public let range: Range<Int>
    /// Its name, with the escapes it is written with.
    public let name: Range<Int>

    /// Its value, with the escapes it is written with; empty if there is none.
    public var value: Range<Int> { min(name.upperBound + 1, range.upperBound)..<range.upperBound }

    /// The parameter at `start` of a query, which comes without its `?`; none behind the last.
    ///
    /// `start` is moved to where the next one begins.
    public init?(in query: Span<UInt8>, at start: inout Int) {
        guard start < query.count else { return nil }
        let end = query.firstIndex(of: UInt8(ascii: "&"), from: start) ?? query.count
        range = start..<end
        let nameCount = query.extracting(range).firstIndex(of: UInt8(ascii: "=")) ?? range.count
        name = start..<start + nameCount
        start = end + 1
    }
}
