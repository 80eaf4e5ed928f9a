internal import Bytes

extension RPCError {
    /// The error as a `google.rpc.Status` message in Protobuf's binary form, for `grpc-status-details-bin`.
    public var status: [UInt8] {
        var message = ProtobufWriter()
        message.add(field: 1, number: UInt64(code.rawValue))
        message.add(field: 2, bytes: Array(self.message.utf8))
        for detail in details {
            var any = ProtobufWriter()
            any.add(field: 1, bytes: Array("type.googleapis.com/\(detail.type)".utf8))
            any.add(field: 2, bytes: detail.value)
            message.add(field: 3, bytes: any.bytes)
        }
        return message.bytes
    }
}

/// Writes the fields of one Protobuf message; empty values are left out, as proto3 does for singular fields.
private struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(field: UInt64, number: UInt64) {
        guard number != 0 else { return }
        add(variable: field << 3)
        add(variable: number)
    }

    mutating func add(field: UInt64, bytes value: [UInt8]) {
        guard !value.isEmpty else { return }
        add(variable: field << 3 | 2)
        add(variable: UInt64(value.count))
        bytes += value
    }

    private mutating func add(variable value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
