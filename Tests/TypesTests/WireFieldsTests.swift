import Bytes
import Testing

@testable import Types

/// The fields of messages whose type nobody knows.
struct WireFieldsTests {
    private func fields(_ bytes: [UInt8]) throws -> [WireFields.Field] {
        var walker = WireFields(0..<bytes.count)
        var found: [WireFields.Field] = []
        while let field = try walker.next(in: bytes.span) { found.append(field) }
        return found
    }

    @Test func `each sort of field is found with its place`() throws {
        let bytes: [UInt8] =
            [0x08, 0x96, 0x01] + [0x12, 2, 7, 7] + [0x19, 1, 2, 3, 4, 5, 6, 7, 8] + [0x25, 1, 2, 3, 4] + [0x2a, 0]
        #expect(
            try fields(bytes) == [
                .init(number: 1, value: .number(150)), .init(number: 2, value: .bytes(5..<7)),
                .init(number: 3, value: .bytes(8..<16)), .init(number: 4, value: .bytes(17..<21)),
                .init(number: 5, value: .bytes(23..<23)),
            ]
        )
        #expect(try fields([]) == [])
    }

    @Test func `the largest number and the largest field are read`() throws {
        let largest: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        #expect(try fields([0x08] + largest) == [.init(number: 1, value: .number(.max))])
        #expect(try fields([0xf8, 0xff, 0xff, 0xff, 0x0f, 0]) == [.init(number: 1 << 29 - 1, value: .number(0))])
    }

    @Test(
        arguments: [
            [0x08], [0x08, 0x80], [0x0a], [0x0a, 1], [0x0a, 3, 1, 2], [0x09, 1, 2, 3, 4, 5, 6, 7], [0x0d, 1, 2, 3],
            // Fields that there are not: the number 0, one beyond all, groups, and the sorts 6 and 7.
            [0x02, 0], [0x80, 0x80, 0x80, 0x80, 0x10, 0], [0x0b], [0x0c], [0x0e, 0], [0x0f, 0],
            // Numbers and lengths that do not fit.
            [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1],
        ] as [[UInt8]]
    )
    func `what is cut off or no field is an error`(_ bytes: [UInt8]) {
        #expect(throws: WireFields.Malformed.self) { try fields(bytes) }
    }

    @Test func `a message within another does not reach beyond its end`() throws {
        let bytes: [UInt8] = [0x0a, 2, 0x0a, 1, 7]
        var walker = WireFields(2..<4)
        #expect(throws: WireFields.Malformed.self) { try walker.next(in: bytes.span) }
    }

    @Test func `random bytes never lead out of bounds`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for field in (try? fields(bytes)) ?? [] {
                guard case .bytes(let range) = field.value else { continue }
                #expect(range.lowerBound >= 0 && range.upperBound <= bytes.count)
            }
        }
    }
}
