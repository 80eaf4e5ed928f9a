import Resolver
import Testing

/// The SRV records in the response of a DNS server, byte by byte.
@Suite struct ServiceRecordsTests {
    private static let header: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
    /// `_a.b.test`, and the type and class of the question.
    private static let question: [UInt8] = name("_a", "b", "test") + [0, 33, 0, 1]

    private static func name(_ labels: String...) -> [UInt8] {
        labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private static func record(_ data: [UInt8], ttl: UInt8 = 60, type: UInt8 = 33, owner: [UInt8] = [0xc0, 12])
        -> [UInt8]
    {
        owner + [0, type, 0, 1, 0, 0, 0, ttl, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    private static func service(_ priority: UInt8, _ weight: UInt8, _ port: UInt16, _ target: [UInt8]) -> [UInt8] {
        [0, priority, 0, weight, UInt8(port >> 8), UInt8(port & 255)] + target
    }

    private func read(_ answers: [[UInt8]], count: Int? = nil) throws(ResolverError) -> ServiceRecords {
        var header = Self.header
        header[7] = UInt8(count ?? answers.count)
        return try ServiceRecords(header + Self.question + answers.joined())
    }

    @Test func `records have priorities, weights, ports and targets`() throws {
        let first = Self.record(Self.service(1, 2, 50051, Self.name("One", "test")), ttl: 9)
        let second = Self.record(Self.service(3, 4, 80, Self.name("two", "test")))
        let service = try read([first, second])
        #expect(service.timeToLive == 9)
        #expect(service.records.map(\.target) == ["one.test", "two.test"])
        #expect(service.records.map(\.port) == [50051, 80])
        #expect(service.records.map(\.priority) == [1, 3])
        #expect(service.records.map(\.weight) == [2, 4])
    }

    @Test func `names may be compressed, and aliases stand before`() throws {
        let alias = Self.record(Self.name("c", "test"), type: 5)
        // The place of `test` in the question.
        let target: [UInt8] = [3] + Array("one".utf8) + [0xc0, 17]
        let service = try read([alias, Self.record(Self.service(0, 0, 1, target))])
        #expect(service.records.map(\.target) == ["one.test"])
    }

    @Test func `a service that is not there is no address`() {
        #expect(throws: ResolverError.noAddress) { try read([]) }
        #expect(throws: ResolverError.noAddress) { try read([Self.record(Self.service(0, 0, 0, [0]))]) }
    }

    @Test func `a name of pointers to pointers is rejected`() {
        // Each pointer leads to the one before it, and the first one to the name of the question.
        let chain = { (count: Int) -> [UInt8] in
            let start = Self.header.count + Self.question.count + 12
            let pointers = (0..<count).flatMap { index -> [UInt8] in
                let target = index == 0 ? 12 : start + (index - 1) * 2
                return [0xc0 | UInt8(target >> 8), UInt8(target & 255)]
            }
            let last = start + (count - 1) * 2
            let text = Self.record(pointers, type: 16)
            let target: [UInt8] = [0xc0 | UInt8(last >> 8), UInt8(last & 255)]
            return text + Self.record(Self.service(0, 0, 1, target))
        }
        #expect(throws: Never.self) { try read([chain(100)], count: 2) }
        #expect(throws: ResolverError.badResponse) { try read([chain(1000)], count: 2) }
    }

    private static let broken: [[UInt8]] = [
        [], Array(header.prefix(11)), header, header + question.dropLast(2),
        // The length of the data is beyond the end, or another than that of the name.
        header + question + record(service(0, 0, 1, name("a"))).dropLast(1),
        header + question + record(service(0, 0, 1, name("a")) + [0]),
        // A pointer that leads to itself, or forward.
        header + question + record(service(0, 0, 1, [0xc0, 45])),
        header + question + record(service(0, 0, 1, [0xc0, 0xff])),
        // A label that is too long, and one with a dot.
        header + question + record(service(0, 0, 1, [0x40] + [UInt8](repeating: 0x61, count: 64) + [0])),
        header + question + record(service(0, 0, 1, [3, 0x61, 0x2e, 0x62, 0])),
    ]

    @Test(arguments: broken)
    func `what is no such message is an error`(_ message: [UInt8]) {
        #expect(throws: ResolverError.badResponse) { try ServiceRecords(message) }
    }

    @Test func `no message ends the process`() {
        let good = Self.header + Self.question + Self.record(Self.service(1, 2, 3, Self.name("one", "test")))
        for index in good.indices {
            for value in [UInt8(0), 1, 63, 64, 0xc0, 0xff] {
                var message = good
                message[index] = value
                _ = try? ServiceRecords(message)
                _ = try? ServiceRecords(Array(message.prefix(index)))
            }
        }
    }
}
