/// The types of error details that gRPC and Connect share: those of `google/rpc/error_details.proto`, which a configuration can use
/// without a descriptor set.
public enum ErrorDetailTypes {
    /// The types.
    public static let set: TypeSet? = try? TypeSet([DescriptorSet(source: "google.rpc", bytes: bytes)])

    /// Returns the type of a detail and the set that has it: the known one, or else one of these.
    public static func type(named name: String, in known: TypeSet?) -> (type: MessageType, types: TypeSet)? {
        for types in [known, set] {
            if let types, let type = types.message(named: name) { return (type, types) }
        }
        return nil
    }

    /// A message, as `Name field:number[:kind]…`: a field is a string unless its kind says otherwise, `*` repeats it, and a message
    /// with a dot in its name is nested.
    private static let definitions = [
        "ErrorInfo reason:1 domain:2 metadata:3:map",
        "RetryInfo retry_delay:1:.google.protobuf.Duration",
        "DebugInfo stack_entries:1:* detail:2",
        "QuotaFailure violations:1:*.google.rpc.QuotaFailure.Violation",
        "QuotaFailure.Violation subject:1 description:2 api_service:3 quota_metric:4 quota_id:5 quota_dimensions:6:map"
            + " quota_value:7:int64 future_quota_value:8:int64",
        "PreconditionFailure violations:1:*.google.rpc.PreconditionFailure.Violation",
        "PreconditionFailure.Violation type:1 subject:2 description:3",
        "BadRequest field_violations:1:*.google.rpc.BadRequest.FieldViolation",
        "BadRequest.FieldViolation field:1 description:2 reason:3 localized_message:4:.google.rpc.LocalizedMessage",
        "RequestInfo request_id:1 serving_data:2",
        "ResourceInfo resource_type:1 resource_name:2 owner:3 description:4",
        "Help links:1:*.google.rpc.Help.Link",
        "Help.Link description:1 url:2",
        "LocalizedMessage locale:1 message:2",
    ]

    /// A FileDescriptorSet with the files.
    private static var bytes: [UInt8] {
        let duration = message("Duration", in: "google.protobuf", ["seconds:1:int64", "nanos:2:int32"], nested: [])
        var set: [UInt8] = []
        set.append(field: 1, file("google/protobuf/duration.proto", "google.protobuf", imports: [], [duration]))
        let parts = definitions.map { $0.split(separator: " ").map(String.init) }
        let messages = parts.filter { !$0[0].contains(".") }.map { outer in
            let nested = parts.filter { $0[0].hasPrefix("\(outer[0]).") }.map { inner in
                let name = String(inner[0].dropFirst(outer[0].count + 1))
                return message(name, in: "google.rpc.\(outer[0])", Array(inner.dropFirst()), nested: [])
            }
            return message(outer[0], in: "google.rpc", Array(outer.dropFirst()), nested: nested)
        }
        let imports = ["google/protobuf/duration.proto"]
        set.append(field: 1, file("google/rpc/error_details.proto", "google.rpc", imports: imports, messages))
        return set
    }

    /// A FileDescriptorProto.
    private static func file(_ name: String, _ package: String, imports: [String], _ messages: [[UInt8]]) -> [UInt8] {
        var file: [UInt8] = []
        file.append(field: 1, name.utf8)
        file.append(field: 2, package.utf8)
        for name in imports { file.append(field: 3, name.utf8) }
        for message in messages { file.append(field: 4, message) }
        file.append(field: 12, "proto3".utf8)
        return file
    }

    /// A DescriptorProto.
    private static func message(_ name: String, in scope: String, _ fields: [String], nested: [[UInt8]]) -> [UInt8] {
        var (message, nested) = ([UInt8](), nested)
        message.append(field: 1, name.utf8)
        for text in fields {
            let parts = text.split(separator: ":").map(String.init)
            var kind = parts.count > 2 ? parts[2] : ""
            if kind == "map" {
                let entry =
                    parts[0].split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() + "Entry"
                nested.append(mapEntry(entry))
                kind = "*.\(scope).\(name).\(entry)"
            }
            message.append(field: 2, field(parts[0], UInt64(parts[1]) ?? 0, kind))
        }
        for type in nested { message.append(field: 3, type) }
        return message
    }

    /// A FieldDescriptorProto.
    private static func field(_ name: String, _ number: UInt64, _ kind: String) -> [UInt8] {
        let type = kind.first == "*" ? String(kind.dropFirst()) : kind
        let isMessage = type.first == "."
        let scalars: [String: UInt64] = ["int64": 3, "int32": 5]
        var field: [UInt8] = []
        field.append(field: 1, name.utf8)
        field.append(number: number, in: 3)
        field.append(number: kind.first == "*" ? 3 : 1, in: 4)
        field.append(number: isMessage ? 11 : scalars[type] ?? 9, in: 5)
        if isMessage { field.append(field: 6, type.utf8) }
        return field
    }

    /// The DescriptorProto of the entries of a map from strings to strings.
    private static func mapEntry(_ name: String) -> [UInt8] {
        var entry: [UInt8] = []
        entry.append(field: 1, name.utf8)
        entry.append(field: 2, field("key", 1, ""))
        entry.append(field: 2, field("value", 2, ""))
        // MessageOptions.map_entry
        entry.append(field: 7, [7 << 3, 1])
        return entry
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64, in field: UInt64) {
        append(varint: field << 3)
        append(varint: number)
    }
}
