import Bytes
import Configuration
import Resolver
import Testing

@testable import Proxy

/// The bounds on what DNS adds to an upstream.
@Suite struct AddressBoundTests {
    private let bound = AddressBound(limit: 10)

    @Test func `a list within the limit stays as it is`() {
        let items = Array(0..<10).shuffled()
        #expect(bound.first(of: items) { (0, $0) } == items)
    }

    @Test func `of a longer list, each look-up uses the same items, whatever their order`() {
        let first = Set(bound.first(of: Array(0..<1000)) { (0, $0) })
        let second = Set(bound.first(of: Array(0..<1000).shuffled()) { (0, $0) })
        #expect(first.count == 10)
        #expect(first == second)
    }

    @Test func `the first priorities are used first`() {
        let used = bound.first(of: Array(0..<1000)) { ($0 < 8 ? 1 : 2, $0) }
        #expect(Set(used).isSuperset(of: 0..<8))
        #expect(used.count == 10)
    }

    @Test func `each host of the configuration may have an address`() {
        #expect(bound.first(of: Array(0..<1000), least: 40) { (0, $0) }.count == 40)
    }

    private let hosts = (0..<100).map { HostPort(host: "h\($0)", port: 1) }

    @Test func `hosts are looked up a few at a time`() {
        var asked: [(host: HostPort, completion: Resolver.Completion)] = []
        var results = 0
        var ends = 0
        let lookups = HostLookups(hosts) {
            asked.append(($0, $1))
        } onResult: { _, _ in
            results += 1
        } onEnd: {
            ends += 1
        }
        lookups.start()
        #expect(asked.count == HostLookups.maxAtOnce)
        var answered = 0
        while answered < asked.count {
            asked[answered].completion(.failure(.noSuchHost))
            answered += 1
            #expect(asked.count == min(100, answered + HostLookups.maxAtOnce))
            #expect(ends == (answered == 100 ? 1 : 0))
        }
        #expect(results == 100)
        #expect(asked.map(\.host) == hosts)
    }

    @Test func `look-ups that complete immediately end once`() {
        var ends = 0
        let lookups = HostLookups(hosts) {
            $1(.failure(.noSuchHost))
        } onResult: {
            (_, _) in
        } onEnd: {
            ends += 1
        }
        lookups.start()
        #expect(ends == 1)
        HostLookups([], resolve: { _, _ in }, onResult: { _, _ in }, onEnd: { ends += 1 }).start()
        #expect(ends == 2)
    }
}
