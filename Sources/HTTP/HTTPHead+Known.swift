internal import Bytes

/// The fields that Martlet itself writes and removes, without a name that has to be kept and compared.
extension HTTPHead {
    /// Adds a field behind the others; `value` lies in another head, or in none.
    public func add(_ known: KnownField, _ value: Span<UInt8>) {
        let name = arena.add(known.name)
        append(Field(name: name, value: arena.add(value), known: known))
        note(.added, .field(name))
    }

    /// Gives the field a value that the configuration has for every request, in the place of the first one of that name.
    ///
    /// Nothing of it comes from a caller, so it may go into the HPACK table of a connection that callers share.
    public func set(_ name: FieldName, configured value: Span<UInt8>) {
        set(name, value)
        if let index = first(name) { fields[index].isConfigured = true }
    }

    /// Gives the field the value, in the place of the first one of that name; others of that name go.
    public func set(_ known: KnownField, _ value: StaticString) {
        set(known, arena.add(value))
    }

    /// Gives the field a value that lies in another head, or in none, as `set` does with a name.
    public func set(_ known: KnownField, _ value: Span<UInt8>) {
        set(known, arena.add(value))
    }

    /// Gives the field a value of two parts.
    public func set(_ known: KnownField, _ start: StaticString, _ rest: StaticString) {
        set(known, arena.add(start).joined(arena.add(rest)))
    }

    /// Gives the field a value of two parts, the second of which lies in another head, or in none.
    public func set(_ known: KnownField, _ start: StaticString, _ rest: Span<UInt8>) {
        set(known, arena.add(start).joined(arena.add(rest)))
    }

    private func set(_ known: KnownField, _ value: ByteRange) {
        guard let index = first(known) else {
            let name = arena.add(known.name)
            append(Field(name: name, value: value, known: known))
            return note(.added, .field(name))
        }
        fields[index].value = value
        fields[index].lineCount = 0
        note(.set, .field(fields[index].name))
        remove(known, from: index + 1)
    }

    /// Removes the fields of that name, those at or after `start`.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func remove(_ known: KnownField, from start: Int = 0) -> Bool {
        guard var kept = first(known, from: start) else { return false }
        note(.removed, .field(fields[kept].name))
        for index in kept + 1..<fields.count where fields[index].known != known {
            fields[kept] = fields[index]
            kept += 1
        }
        fields.truncate(to: kept)
        return true
    }

    /// Gives the fields of one name another, whose own go: they mean nothing as they are.
    public func rename(_ known: KnownField, to other: KnownField) {
        guard known != other else { return }
        remove(other)
        guard var next = first(known) else { return }
        let name = arena.add(other.name)
        while next < fields.count {
            note(.renamed, .field(fields[next].name))
            (fields[next].name, fields[next].known, fields[next].lineCount) = (name, other, 0)
            next = first(known, from: next + 1) ?? fields.count
        }
        self.known |= other.bit
    }

    /// How many bytes have been added, be they still of use or not.
    public var byteCount: Int { arena.count }

    /// Adds a field with a name of two parts; neither they nor the value lie in this head.
    public func add(name start: StaticString, _ rest: Span<UInt8>, value: Span<UInt8>) {
        let name = arena.add(start).joined(arena.add(rest))
        let range = arena.add(value)
        let bytes = arena
        append(Field(name: name, value: range, known: KnownField(bytes[name])))
        note(.added, .field(name))
    }
}

extension KnownField {
    /// The name in small letters; that of `other` is empty.
    public var name: StaticString {
        switch self {
        case .other: ""
        case .host: "host"
        case .connection: "connection"
        case .keepAlive: "keep-alive"
        case .proxyConnection: "proxy-connection"
        case .proxyAuthenticate: "proxy-authenticate"
        case .proxyAuthorization: "proxy-authorization"
        case .transferEncoding: "transfer-encoding"
        case .contentLength: "content-length"
        case .te: "te"
        case .trailer: "trailer"
        case .upgrade: "upgrade"
        case .expect: "expect"
        case .contentType: "content-type"
        case .contentEncoding: "content-encoding"
        case .connectProtocolVersion: "connect-protocol-version"
        case .grpcStatus: "grpc-status"
        case .grpcMessage: "grpc-message"
        case .grpcTimeout: "grpc-timeout"
        case .connectTimeout: "connect-timeout-ms"
        case .grpcEncoding: "grpc-encoding"
        case .connectContentEncoding: "connect-content-encoding"
        case .cookie: "cookie"
        case .authorization: "authorization"
        case .setCookie: "set-cookie"
        case .http2Settings: "http2-settings"
        case .origin: "origin"
        case .secFetchSite: "sec-fetch-site"
        case .acceptEncoding: "accept-encoding"
        case .connectAcceptEncoding: "connect-accept-encoding"
        case .grpcAcceptEncoding: "grpc-accept-encoding"
        case .grpcStatusDetails: "grpc-status-details-bin"
        }
    }
}

extension ByteRange {
    /// This range and the one right behind it as one.
    fileprivate func joined(_ next: ByteRange) -> ByteRange {
        ByteRange(offset: Int(offset), count: Int(count) + Int(next.count))
    }
}
