import Bytes
import Testing

@testable import Caching

/// What stays when there is no room for all.
@Suite struct SegmentedLRUTests {
    private func key(_ number: Int) -> [UInt8] { Array("key \(number)".utf8) }

    private func insert(_ number: Int, into cache: inout SegmentedLRU<Int>, cost: Int = 1) {
        let key = key(number)
        cache.insert(number, key, hash: key.span.seededHash, cost: cost)
    }

    private func value(_ number: Int, in cache: SegmentedLRU<Int>) -> Int? {
        let key = key(number)
        return cache.place(of: key.span, hash: key.span.seededHash).flatMap { cache.value(at: $0) }
    }

    private func use(_ number: Int, of cache: inout SegmentedLRU<Int>) {
        let key = key(number)
        if let place = cache.place(of: key.span, hash: key.span.seededHash) { cache.use(place) }
    }

    @Test func `what was not used for longest goes first`() {
        var cache = SegmentedLRU<Int>(limit: 3)
        for number in 1...4 { insert(number, into: &cache) }
        #expect((1...4).map { value($0, in: cache) } == [nil, 2, 3, 4])
        #expect(cache.evictions == 1)
    }

    @Test func `a scan does not take the place of what is used`() {
        var cache = SegmentedLRU<Int>(limit: 10)
        for number in 1...5 { insert(number, into: &cache) }
        for number in 1...5 { use(number, of: &cache) }
        for number in 100..<1000 { insert(number, into: &cache) }
        #expect((1...5).map { value($0, in: cache) } == [1, 2, 3, 4, 5])
    }

    @Test func `what is protected is at most four fifths`() {
        var cache = SegmentedLRU<Int>(limit: 10)
        for number in 1...10 { insert(number, into: &cache) }
        for number in 1...10 { use(number, of: &cache) }
        for number in 100..<110 { insert(number, into: &cache) }
        #expect((1...10).compactMap { value($0, in: cache) } == [3, 4, 5, 6, 7, 8, 9, 10])
    }

    @Test func `the bound holds whatever is done`() {
        var (cache, random) = (SegmentedLRU<Int>(limit: 1000), SystemRandomNumberGenerator())
        var known: [Int: Int] = [:]
        for step in 0..<20_000 {
            let number = Int.random(in: 0..<200, using: &random)
            switch step % 7 {
            case 0: use(number, of: &cache)
            case 1: cache.remove(key(number).span, hash: key(number).span.seededHash)
            case 2: cache.reserved = Int.random(in: 0...500, using: &random)
            default: insert(number, into: &cache, cost: Int.random(in: 1...300, using: &random))
            }
            known[number] = number
            #expect(cache.cost + cache.reserved <= 1000)
            if let value = value(number, in: cache) { #expect(value == number) }
        }
        #expect(known.keys.count { value($0, in: cache) != nil } == cache.count)
    }

    @Test func `keys of one hash are told apart`() {
        var cache = SegmentedLRU<Int>(limit: 10)
        for number in 1...3 { cache.insert(number, key(number), hash: 7, cost: 1) }
        cache.remove(key(2).span, hash: 7)
        let found = (1...3).map { number in
            cache.place(of: key(number).span, hash: 7).flatMap { cache.value(at: $0) }
        }
        #expect(found == [1, nil, 3])
    }
}
