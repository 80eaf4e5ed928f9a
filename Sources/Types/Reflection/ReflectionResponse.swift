internal import Bytes

/// What one message of the reflection service says, and how one asks it.
///
/// The messages are the same in `grpc.reflection.v1` and `grpc.reflection.v1alpha`.
enum ReflectionResponse: Equatable {
    /// The names of all services.
    case services([String])
    /// Files, as they are on the wire.
    case files([[UInt8]])
    /// The server could not do what it was asked.
    case error(code: UInt64, String)

    /// Reads a ServerReflectionResponse; of several parts that exclude each other the last counts.
    ///
    /// - Returns: none if it says something that nobody asks for.
    /// - Throws: an error if it is not in the wire format.
    static func read(_ bytes: Span<UInt8>) throws(ReflectionError) -> ReflectionResponse? {
        var response: ReflectionResponse?
        var fields = WireFields(0..<bytes.count)
        do throws(WireFields.Malformed) {
            while let field = try fields.next(in: bytes) {
                guard case .bytes(let place) = field.value else { continue }
                switch field.number {
                case 4: response = .files(try files(bytes, place))
                case 6: response = .services(try services(bytes, place))
                case 7: response = try error(bytes, place)
                default: break
                }
            }
        } catch {
            throw .malformed
        }
        return response
    }

    private static func files(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(WireFields.Malformed) -> [[UInt8]] {
        var files: [[UInt8]] = []
        var fields = WireFields(range)
        while let field = try fields.next(in: bytes) {
            guard field.number == 1, case .bytes(let place) = field.value else { continue }
            // One more than may be is enough to reject them.
            if files.count <= ReflectionSession.maxFiles { files.append(bytes.extracting(place).array) }
        }
        return files
    }

    private static func services(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(WireFields.Malformed) -> [String] {
        var services: [String] = []
        var fields = WireFields(range)
        while let field = try fields.next(in: bytes) {
            guard field.number == 1, case .bytes(let place) = field.value else { continue }
            let name = try DescriptorFile.firstText(in: bytes, place)
            if services.count <= ReflectionSession.maxServices { services.append(name) }
        }
        return services
    }

    private static func error(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(WireFields.Malformed)
        -> ReflectionResponse
    {
        var (code, message): (UInt64, String) = (0, "")
        var fields = WireFields(range)
        while let field = try fields.next(in: bytes) {
            switch (field.number, field.value) {
            case (1, .number(let number)): code = number
            case (2, .bytes(let place)): message = bytes.extracting(place).string
            default: break
            }
        }
        return .error(code: code, message)
    }
}

/// What the reflection service is asked for.
enum ReflectionQuery: Equatable {
    /// The names of all services.
    case services
    /// The file that defines a service.
    case symbol(String)
    /// A file.
    case file(String)

    /// The ServerReflectionRequest.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .services: bytes.append(field: 7, [])
        case .symbol(let name): bytes.append(field: 4, name.utf8)
        case .file(let name): bytes.append(field: 3, name.utf8)
        }
        return bytes
    }
}
