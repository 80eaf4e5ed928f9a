import Bytes
import Testing

@Suite struct `A byte arena` {
    @Test func `keeps ranges good while it grows`() {
        let arena = ByteArena(capacity: 4)
        let ranges = (0..<100).map { arena.add(Array("item \($0)".utf8).span) }
        for (index, range) in ranges.enumerated() { #expect(arena[range].string == "item \(index)") }
        #expect(arena.count == 690 - 100 + 100)
    }

    @Test func `adds its own bytes again though it moves while it does`() {
        let arena = ByteArena(capacity: 8)
        var range = arena.add("Abcdef")
        for _ in 0..<6 {
            let copy = arena.add(arena[range])
            #expect(arena[copy].equals(arena[range]) == true)
            range = copy
        }
        #expect(arena[arena.add(arena[range], lowercasing: Int(range.count))].string == "abcdef")
        #expect(arena[range].string == "Abcdef")
    }

    @Test func `makes only ASCII capitals small`() {
        let arena = ByteArena()
        #expect(arena[arena.add(Array("@AZ[`az{É".utf8).span, lowercasing: 10)].string == "@az[`az{É")
    }

    @Test func `holds empty ranges`() {
        let arena = ByteArena(capacity: 0)
        let range = arena.add("")
        #expect(range.isEmpty)
        #expect(range == .empty)
        #expect(arena[range].count == 0)
    }

    @Test(arguments: [0, 8, 1024])
    func `is used again after everything was removed`(kept: Int) {
        let arena = ByteArena(capacity: 8)
        _ = arena.add("some bytes that do not fit")
        arena.removeAll(keeping: kept)
        #expect(arena.count == 0)
        #expect(arena[arena.add("other bytes")].string == "other bytes")
    }
}
