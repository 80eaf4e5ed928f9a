package import Bytes

/// The head of a request or a response, or a trailer section: an ordered multimap of fields, and the control data.
///
/// HTTP/1.1 and HTTP/2 fill and read it alike. Names are in small letters. What belongs to one connection (hop-by-hop
/// fields) and what frames the body never gets into the fields: the length is `contentLength`, `Host` is `authority`.
/// Heads are used again: they come from an `HTTPHeadPool`. Belongs to one thread; a span is good until the next change.
public final class HTTPHead {
    /// Where the name and the value of one field lie.
    public struct Field: BitwiseCopyable, Sendable {
        var name: ByteRange
        var value: ByteRange
        var known: KnownField
        /// Whether the configuration gives the value to every request.
        var isConfigured = false
        /// The length of the line `name: value` CRLF where the arena has it whole, from the name on; else 0.
        var lineCount: Int32 = 0
    }

    let arena = ByteArena()
    var fields = OwnedList<Field>(capacity: 32)
    /// A bit for each known field that has been added, whether or not it is still there.
    var known: UInt32 = 0
    private(set) var methodRange = ByteRange.empty
    private var place = TargetPlace() {
        didSet { targetVersion &+= 1 }
    }
    /// Counts the changes of the target, so that what was read out of it is known to be old.
    public private(set) var targetVersion = 0
    private(set) var authorityRange = ByteRange.empty
    /// The last authority that the configuration set; empty without one.
    private var configuredAuthority = ByteRange.empty
    private var reasonRange = ByteRange.empty
    /// What has been changed since the changes began to be noted.
    private var edits = OwnedList<HTTPEdit>(capacity: 1)
    /// Whether changes are noted.
    package var notesEdits = false
    private var mark = HTTPHeadMark()

    /// The status of a response, 100 to 999; 0 in a request.
    public var status = 0
    /// The length of the body in bytes, where the head says it.
    public package(set) var contentLength: Int?
    /// Whether the caller of an HTTP/1.0 or 1.1 request waits for `100 Continue` before it sends the body.
    public package(set) var expectsContinue = false
    /// Whether `te: trailers` is sent with the head.
    public package(set) var acceptsTrailers = false

    /// Where the target lies.
    var targetRange: ByteRange { place.range }

    /// Makes an empty head.
    public init() {}

    /// Forgets everything and keeps the memory.
    public func removeAll() {
        arena.removeAll()
        fields.removeAll()
        known = 0
        methodRange = .empty
        place = TargetPlace()
        authorityRange = .empty
        configuredAuthority = .empty
        reasonRange = .empty
        status = 0
        contentLength = nil
        expectsContinue = false
        acceptsTrailers = false
        notesEdits = false
        mark.isSet = false
        edits.removeAll()
    }

    /// Becomes a copy of `other`.
    public func copy(_ other: HTTPHead) {
        removeAll()
        _ = arena.add(other.bytes(ByteRange(offset: 0, count: other.arena.count)))
        fields.copy(other.fields)
        known = other.known
        methodRange = other.methodRange
        place = other.place
        authorityRange = other.authorityRange
        configuredAuthority = other.configuredAuthority
        reasonRange = other.reasonRange
        status = other.status
        contentLength = other.contentLength
        expectsContinue = other.expectsContinue
        acceptsTrailers = other.acceptsTrailers
    }

    // MARK: Control data

    /// The method, `POST` for one.
    public var method: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes(methodRange) }
    }

    /// Whether the method says that the request may be sent twice (RFC 9110 §9.2.2).
    public var hasIdempotentMethod: Bool {
        let method = method
        return Self.isIdempotent(method)
    }

    /// Whether a request with this method may be sent twice (RFC 9110 §9.2.2).
    public static func isIdempotent(_ method: Span<UInt8>) -> Bool {
        method.equals("GET") || method.equals("HEAD") || method.equals("OPTIONS") || method.equals("PUT")
            || method.equals("DELETE") || method.equals("TRACE")
    }

    /// The path with the query, as it was sent.
    public var target: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes(targetRange) }
    }

    /// The path without the query.
    public var path: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes(ByteRange(offset: Int(targetRange.offset), count: place.pathCount)) }
    }

    /// The query without its `?`; empty if there is none.
    public var query: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let start = min(place.pathCount + 1, Int(targetRange.count))
            return bytes(ByteRange(offset: Int(targetRange.offset) + start, count: Int(targetRange.count) - start))
        }
    }

    /// The host, and the port if the caller named one; empty without a host.
    public var authority: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes(authorityRange) }
    }

    /// The reason phrase of an HTTP/1 response; empty if there was none.
    public var reason: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes(reasonRange) }
    }

    /// Sets the method.
    public func setMethod(_ bytes: Span<UInt8>) { methodRange = arena.add(bytes) }
    /// Sets the path with the query.
    public func setTarget(_ bytes: Span<UInt8>) {
        // First: bytes that lie in this arena may lie elsewhere once more is added to it.
        let pathCount = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        place = TargetPlace(range: arena.add(bytes), pathCount: pathCount)
        note(.set, .path)
    }
    /// Sets the host and the port.
    public func setAuthority(_ bytes: Span<UInt8>) {
        authorityRange = arena.add(bytes)
        note(.set, .authority)
    }
    /// Sets the host and the port that the configuration gives to every request of an upstream.
    package func setAuthority(configured bytes: Span<UInt8>) {
        setAuthority(bytes)
        configuredAuthority = authorityRange
    }
    /// Whether the authority is the same for every request of an upstream, whatever the caller sent.
    var hasConfiguredAuthority: Bool { authorityRange == configuredAuthority && configuredAuthority.count > 0 }
    /// Sets the reason phrase.
    public func setReason(_ bytes: Span<UInt8>) { reasonRange = arena.add(bytes) }

    // MARK: Fields

    /// The number of fields.
    public var count: Int { fields.count }

    /// The name of the field at `index`, in small letters.
    @_lifetime(borrow self)
    public func name(at index: Int) -> Span<UInt8> { bytes(fields[index].name) }

    /// The value of the field at `index`.
    @_lifetime(borrow self)
    public func value(at index: Int) -> Span<UInt8> { bytes(fields[index].value) }

    /// Which of the known fields the field at `index` is.
    public func known(at index: Int) -> KnownField { fields[index].known }

    /// The index of the first such field at or after `start`.
    public func first(_ known: KnownField, from start: Int = 0) -> Int? {
        guard self.known & known.bit != 0 else { return nil }
        var index = start
        while index < fields.count {
            if fields[index].known == known { return index }
            index += 1
        }
        return nil
    }

    /// Whether a field may tell of a web page behind the request: `origin` (RFC 6454 §7) or `sec-fetch-site`.
    public var maySayOrigin: Bool { known & (KnownField.origin.bit | KnownField.secFetchSite.bit) != 0 }

    /// The index of the first field with the name at or after `start`.
    public func first(_ name: FieldName, from start: Int = 0) -> Int? {
        guard name.known == .other else { return first(name.known, from: start) }
        let count = Int32(truncatingIfNeeded: name.bytes.count)
        var index = start
        while index < fields.count {
            // Most names differ in their length already.
            if fields[index].name.count == count, has(name, at: index) { return index }
            index += 1
        }
        return nil
    }

    /// Adds a field behind the others.
    public func add(_ name: FieldName, _ value: Span<UInt8>) {
        let range = arena.add(name.bytes.span)
        append(Field(name: range, value: arena.add(value), known: name.known))
        note(.added, .field(range))
    }

    /// Adds a field whose name may have capitals.
    public func add(name: Span<UInt8>, value: Span<UInt8>) {
        let range = arena.add(name, lowercasing: name.count)
        append(Field(name: range, value: arena.add(value), known: KnownField(bytes(range))))
        note(.added, .field(range))
    }

    /// Adds a field whose name has no capitals, and whose bytes lie elsewhere.
    func add(smallName name: Span<UInt8>, value: Span<UInt8>) {
        let ranges = arena.add(name, value)
        append(Field(name: ranges.first, value: ranges.second, known: KnownField(name)))
    }

    /// Whether it is the head of an interim response (1xx).
    var isInterim: Bool { status >= 100 && status < 200 }

    /// Adds the field of a line that is in the arena already, and says which of the known fields it is.
    func add(_ line: HTTP1FieldLine) -> KnownField {
        let name = ByteRange(offset: line.start, count: line.nameCount)
        let known = KnownField(bytes(name))
        append(
            Field(
                name: name,
                value: ByteRange(offset: line.start + line.value.lowerBound, count: line.value.count),
                known: known,
                lineCount: line.isPlain ? Int32(truncatingIfNeeded: line.count) : 0
            )
        )
        return known
    }

    /// The lines of the field at `index` and those behind it, as far as they lie in one piece as HTTP/1 writes them.
    ///
    /// Moves `index` behind them; no bytes if the field at `index` is not to be had like this.
    @_lifetime(borrow self)
    func lines(from index: inout Int) -> Span<UInt8> {
        let start = Int(fields[index].name.offset)
        var end = start
        while index < fields.count, fields[index].lineCount > 0, Int(fields[index].name.offset) == end {
            end += Int(fields[index].lineCount)
            index += 1
        }
        return bytes(ByteRange(offset: start, count: end - start))
    }

    /// Gives the field the value, in the place of the first one of that name; others of that name go.
    public func set(_ name: FieldName, _ value: Span<UInt8>) {
        guard let index = first(name) else { return add(name, value) }
        setValue(at: index, value)
        remove(name, from: index + 1)
    }

    /// Replaces the value of the field at `index`.
    public func setValue(at index: Int, _ value: Span<UInt8>) {
        fields[index].value = arena.add(value)
        fields[index].lineCount = 0
        fields[index].isConfigured = false
        note(.set, .field(fields[index].name))
    }

    /// Gives the field at `index` another name.
    public func rename(at index: Int, to name: FieldName) {
        note(.renamed, .field(fields[index].name))
        fields[index].name = arena.add(name.bytes.span)
        fields[index].known = name.known
        known |= name.known.bit
        fields[index].lineCount = 0
    }

    /// Removes all fields with the name, those at or after `start`.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func remove(_ name: FieldName, from start: Int = 0) -> Bool {
        guard var kept = first(name, from: start) else { return false }
        note(.removed, .field(fields[kept].name))
        for index in kept + 1..<fields.count where !has(name, at: index) {
            fields[kept] = fields[index]
            kept += 1
        }
        fields.truncate(to: kept)
        return true
    }

    /// Removes the field at `index`.
    public func remove(at index: Int) {
        note(.removed, .field(fields[index].name))
        fields.remove(at: index)
    }

    // MARK: Changes

    func note(_ kind: HTTPEdit.Kind, _ subject: HTTPEdit.Subject) {
        if notesEdits { edits.append(HTTPEdit(kind: kind, subject: subject)) }
    }

    /// How often something has been changed since the changes began to be noted.
    package var editCount: Int { edits.count }

    /// The changes from `first` on, at most `maxCount` of them: each kind, and its name, which is added to `names`; `:path` and
    /// `:authority` for what is no field.
    package func readEdits(_ first: Int, maxCount: Int, names: ByteArena, _ read: (HTTPEdit.Kind, ByteRange) -> Void) {
        let (path, authority) = (HTTPEdit.path, HTTPEdit.authority)
        for index in first..<max(first, min(edits.count, first + maxCount)) {
            switch edits[index].subject {
            case .path: read(edits[index].kind, names.add(path.span))
            case .authority: read(edits[index].kind, names.add(authority.span))
            case .field(let range): read(edits[index].kind, names.add(bytes(range)))
            }
        }
    }

    /// Remembers the head as it is now.
    package func setMark() {
        mark.isSet = true
        mark.fields.copy(fields)
        mark.target = place
        mark.authorityRange = authorityRange
    }

    /// Becomes again what it was at the mark.
    package func returnToMark() {
        fields.copy(mark.fields)
        place = mark.target
        authorityRange = mark.authorityRange
    }

    /// Becomes again what it was at the mark; without one, sets it.
    package func returnToMarkOrSet() {
        if mark.isSet { returnToMark() } else { setMark() }
    }

    func append(_ field: Field) {
        fields.append(field)
        known |= field.known.bit
    }

    @_lifetime(borrow self)
    private func bytes(_ range: ByteRange) -> Span<UInt8> {
        let arena = arena
        return unsafe _overrideLifetime(arena[range], borrowing: self)
    }

    /// Removes the field that was added last.
    func removeLast() {
        fields.truncate(to: fields.count - 1)
    }

    private func has(_ name: FieldName, at index: Int) -> Bool {
        let field = fields[index]
        guard field.known == name.known else { return false }
        return name.known != .other || bytes(field.name).equals(name.bytes.span)
    }
}

/// Keeps heads for the next call.
///
/// Belongs to one thread.
package final class HTTPHeadPool {
    private var free = FreeList<HTTPHead>(limit: 512)

    /// Makes an empty pool.
    package init() {}

    /// An empty head.
    package func acquire() -> HTTPHead {
        free.acquire() ?? HTTPHead()
    }

    /// Takes a head back that nobody uses any more.
    package func release(_ head: consuming HTTPHead) {
        head.removeAll()
        free.release(head)
    }

    /// Forgets the heads that nobody has needed since the last trim.
    package func trim() {
        free.trim()
    }
}
