internal import Bytes

/// The SRV records of a name (RFC 2782), and how long they may be believed.
public struct ServiceRecords: Equatable, Sendable {
    /// One record.
    public struct Record: Equatable, Sendable {
        /// Those with the lowest are used.
        public let priority: Int
        /// The part of the load among those of one priority.
        public let weight: Int
        /// The port.
        public let port: UInt16
        /// The name of the host, without a dot at its end.
        public let target: String
    }

    /// The records; never empty.
    public let records: [Record]
    /// For how many seconds they may be used without asking again, 1 to 300.
    public let timeToLive: Int

    /// Reads the response of a DNS server (RFC 1035 §4); names may be compressed, and other records are passed over.
    ///
    /// - Parameter message: the whole message.
    /// - Throws: `badResponse` for what is no such message, `noAddress` for one without records, or with one that says that
    ///   there is no service.
    public init(_ message: [UInt8]) throws(ResolverError) {
        var reader = DNSReader(message)
        guard let questions = reader.number(at: 4), let answers = reader.number(at: 6) else { throw .badResponse }
        reader.position = 12
        for _ in 0..<questions {
            guard reader.name() != nil, reader.skip(4) else { throw .badResponse }
        }
        var records: [Record] = []
        var timeToLive = Int(Int32.max)
        for _ in 0..<answers {
            guard reader.name() != nil, let type = reader.next(), reader.next() != nil, let high = reader.next(),
                let low = reader.next(), let length = reader.next()
            else { throw .badResponse }
            let end = reader.position + length
            // The type SRV; an alias on the way is another.
            if type == 33 {
                guard let priority = reader.next(), let weight = reader.next(), let port = reader.next(),
                    let target = reader.name(), reader.position == end
                else { throw .badResponse }
                timeToLive = min(timeToLive, high << 16 | low)
                if !target.isEmpty, port > 0 {
                    records.append(Record(priority: priority, weight: weight, port: UInt16(port), target: target))
                }
            }
            guard end <= message.count else { throw .badResponse }
            reader.position = end
        }
        if records.isEmpty { throw .noAddress }
        self.records = records
        self.timeToLive = min(max(timeToLive, 1), 300)
    }
}

/// Reads the parts of a message of DNS.
private struct DNSReader {
    private let bytes: [UInt8]
    var position = 0

    /// The longest name, in bytes (RFC 1035 §2.3.4).
    private static let maxName = 255
    /// The maximum number of pointers in a name, which is the maximum number of its labels.
    ///
    /// Without it, names of pointers to pointers cost thousands of steps each.
    private static let maxPointers = 127

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of 16 bits at a place.
    func number(at place: Int) -> Int? {
        guard place + 2 <= bytes.count else { return nil }
        return Int(bytes[place]) << 8 | Int(bytes[place + 1])
    }

    /// The next number of 16 bits.
    mutating func next() -> Int? {
        defer { position += 2 }
        return number(at: position)
    }

    /// Passes bytes over.
    mutating func skip(_ count: Int) -> Bool {
        position += count
        return position <= bytes.count
    }

    /// The name that stands next, in small letters; empty for the root.
    mutating func name() -> String? {
        var (place, labels, length) = (position, [String](), 0)
        var hasJumped = false
        var pointers = 0
        while true {
            guard place < bytes.count else { return nil }
            let count = Int(bytes[place])
            switch count {
            case 0:
                if !hasJumped { position = place + 1 }
                return labels.joined(separator: ".")
            case 0xc0...:
                guard let pointer = number(at: place).map({ $0 & 0x3fff }), pointer < place else { return nil }
                if !hasJumped { position = place + 2 }
                // A pointer leads back, so that none can lead around.
                (place, hasJumped) = (pointer, true)
                pointers += 1
                guard pointers <= Self.maxPointers else { return nil }
            case 1...63:
                length += count + 1
                guard length <= Self.maxName, place + 1 + count <= bytes.count else { return nil }
                let label = bytes[place + 1..<place + 1 + count]
                guard label.allSatisfy({ 0x21...0x7e ~= $0 && $0 != 0x2e }) else { return nil }
                labels.append(String(decoding: label, as: UTF8.self).lowercased())
                place += 1 + count
            default: return nil
            }
        }
    }
}
