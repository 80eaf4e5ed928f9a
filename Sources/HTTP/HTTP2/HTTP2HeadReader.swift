internal import Bytes

/// Makes a head of the fields of a HEADERS frame, as they come out of HPACK (RFC 9113 §8).
///
/// nghttp2 has looked at them before: names are small and valid, pseudo-fields come first, each once, and what belongs to
/// an HTTP/1 connection is not among them. Here is what is left: the limits, and what becomes of the known fields.
@safe
struct HTTP2HeadReader {
    /// What is being read.
    enum Kind {
        case request, response, trailers
    }

    private(set) var kind = Kind.request
    /// The head that is being filled; none while no head is read.
    private(set) var head: HTTPHead?
    /// The same, as it is lent for each field.
    private var lent: Unmanaged<HTTPHead>?
    private let maxBytes: Int
    private let maxFields: Int
    private var taken = 0
    private var hosts = 0
    /// The default port of the scheme.
    private var defaultPort = 80
    /// What is wrong with the head; what comes behind it is not looked at any more.
    private(set) var error: HTTPError?

    init(limits: HTTPLimits) {
        maxBytes = limits.head
        maxFields = limits.fields
    }

    /// A head begins.
    mutating func begin(_ kind: Kind, into head: consuming HTTPHead) {
        self.kind = kind
        unsafe lent = Unmanaged.passUnretained(head)
        self.head = head
        taken = 0
        hosts = 0
        error = nil
    }

    /// The head has come to its end: gives it away.
    mutating func finish() -> HTTPHead? {
        let finished = head
        head = nil
        unsafe lent = nil
        guard kind == .request, error == nil, let finished else { return finished }
        if finished.authority.count == 0 { error = .missingHost }
        // `*` is the server as a whole, and about that only OPTIONS can ask.
        if finished.target.count == 0 || finished.target.equals("*") && !finished.method.equals("OPTIONS") {
            error = .target
        }
        return finished
    }

    /// How large the list of fields is, as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 §10.5.1).
    var size: Int { taken }

    /// Takes the next field.
    @inline(__always)
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        taken += name.count + value.count + 32
        guard error == nil, let lent = unsafe lent else { return }
        // Lent, not held: what is counted up and down for every field is what costs most in a small call.
        unsafe lent._withUnsafeGuaranteedRef { add(name, value, to: $0) }
    }

    /// Takes the next field, of which nghttp2 has not read all.
    mutating func add(_ name: Span<UInt8>, _ field: HTTP2LongField) {
        taken += max(field.nameCount, name.count) + field.valueCount + 32
        guard error == nil, let head else { return }
        guard field.value.count <= maxBytes, taken - 32 * head.count <= maxBytes else { return reject(.headTooLarge) }
        guard field.nameCount == 0 else { return reject(.longFieldName) }
        if let byte = field.value.first(where: { !HTTP1Grammar.isValue($0) }) {
            return reject(HTTP1Grammar.error(of: byte))
        }
        add(name, field.value.span, to: head)
    }

    private mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, to head: HTTPHead) {
        // The 32 bytes that HTTP/2 counts for each field beside its text are not in a head as HTTP/1 has it.
        guard taken - 32 * head.count <= maxBytes else { return reject(.headTooLarge) }
        guard head.count < maxFields else { return reject(.tooManyFields) }
        do throws(HTTPError) {
            if name.count > 0, name[0] == UInt8(ascii: ":") {
                try addControl(name, value, to: head)
            } else if value.isPadded {
                try addTrimmed(name, value, to: head)
            } else {
                head.add(smallName: name, value: value)
                let known = head.known(at: head.count - 1)
                if known != .other { try note(known, value, in: head) }
            }
        } catch {
            reject(error)
        }
    }

    /// Takes a field whose value has white space around it, which is no part of it (RFC 9110 §5.5).
    ///
    /// In the message of a gRPC status it is, since a server of gRPC does not escape it: it is escaped here.
    private mutating func addTrimmed(_ name: Span<UInt8>, _ value: Span<UInt8>, to head: HTTPHead) throws(HTTPError) {
        guard name.equals("grpc-message") else {
            let trimmed = value.trimmed
            head.add(smallName: name, value: trimmed)
            let known = head.known(at: head.count - 1)
            if known != .other { try note(known, trimmed, in: head) }
            return
        }
        let escaped = ByteQueue()
        let isText = value.array.map { !$0.isSpaceOrTab }
        let (first, last) = (isText.firstIndex(of: true) ?? value.count, isText.lastIndex(of: true) ?? -1)
        for index in value.indices {
            if first...max(first, last) ~= index, last >= 0 {
                escaped.append(byte: value[index])
            } else {
                escaped.append(escaped: value[index])
            }
        }
        head.add(smallName: name, value: escaped.readable)
    }

    private mutating func reject(_ error: HTTPError) {
        self.error = error
    }

    /// Takes `:path`, `:scheme`, `:method`, `:status` or `:authority`; there are no others.
    private mutating func addControl(_ name: Span<UInt8>, _ value: Span<UInt8>, to head: HTTPHead) throws(HTTPError) {
        switch name.count {
        case 5:
            // Only of http and https does nghttp2 want a path that is one, and a URL in its place would be another's rule.
            guard value.count > 0, value[0] == UInt8(ascii: "/") || value.equals("*") else { throw .target }
            try HTTP1Target.check(value)
            head.setTarget(value)
        case 7 where name[2] == UInt8(ascii: "c"):
            guard value.equalsIgnoringCase("http") || value.equalsIgnoringCase("https") else { throw .scheme }
            defaultPort = value.count == 5 ? 443 : 80
        case 7 where name[1] == UInt8(ascii: "m"):
            guard !value.equals("CONNECT") else { throw .connect }
            head.setMethod(value)
        case 7 where name[2] == UInt8(ascii: "t"):
            guard let status = value.decimal, status >= 100 else { throw .statusLine }
            head.status = status
        case 10:
            try HTTP1Target.checkHost(value)
            head.setAuthority(value)
        default: break
        }
    }

    /// Takes what frames the message, or belongs to the connection, out of the fields.
    private mutating func note(_ known: KnownField, _ value: Span<UInt8>, in head: HTTPHead) throws(HTTPError) {
        if kind == .trailers {
            if known.isForbiddenInTrailers { head.removeLast() }
            return
        }
        switch known {
        case .contentLength:
            guard let length = value.decimal else { throw .contentLength }
            head.contentLength = length
        case .host:
            guard kind == .request else { return }
            try noteHost(value, in: head)
        case .te:
            if value.hasToken("trailers") { head.acceptsTrailers = true }
        case .expect:
            guard kind == .request else { return }
            guard value.equalsIgnoringCase("100-continue") else { throw .expectation }
            head.expectsContinue = true
        default:
            guard known.isHopByHop else { return }
        }
        head.removeLast()
    }

    private mutating func noteHost(_ value: Span<UInt8>, in head: HTTPHead) throws(HTTPError) {
        hosts += 1
        guard hosts == 1 else { throw .severalHosts }
        try HTTP1Target.checkHost(value)
        guard head.authority.count > 0 else { return head.setAuthority(value) }
        guard Host.areSame(head.authority, value, defaultPort: defaultPort) else { throw .invalidHost }
    }
}

extension Span<UInt8> {
    /// Whether the value of a field has white space at an end.
    fileprivate var isPadded: Bool {
        count > 0 && (self[0].isSpaceOrTab || self[count - 1].isSpaceOrTab)
    }
}
