import Bytes
import Glibc
import Testing

@testable import Resolver

@Suite struct ResolverTests {
    @Test func `literal addresses are answered at once, without a channel`() {
        let bench = Bench { _ in nil }
        var responses: [String] = []
        for literal in ["127.0.0.1", "::1"] {
            bench.resolver.resolve(literal, port: 80) { result in
                responses += (try? result.get())?.addresses.map(\.description) ?? []
            }
        }
        #expect(responses == ["127.0.0.1:80", "[::1]:80"])
        #expect(bench.resolver.nextTimeout == nil)
    }

    @Test(.enabled(if: unsafe access("/etc/hosts", R_OK) == 0, "there is not a valid hosts file"))
    func `the hosts file counts, for a minute`() throws {
        let resolution = try Bench { _ in nil }.resolve("localhost").get()
        #expect(resolution.addresses.contains(.ipv4([127, 0, 0, 1], port: 8080)))
        #expect(resolution.timeToLive == 60)
    }

    @Test func `all addresses of both families are given, with the port`() throws {
        let bench = Bench { query in
            query.type == ScriptedNameServer.Query.a
                ? query.records([[127, 0, 0, 2], [127, 0, 0, 3]], timeToLive: 100)
                : query.records([[UInt8](repeating: 0, count: 15) + [1]], timeToLive: 30)
        }
        let resolution = try bench.resolve("two.test").get()
        #expect(Set(resolution.addresses.map(\.description)) == ["127.0.0.2:8080", "127.0.0.3:8080", "[::1]:8080"])
        #expect(resolution.timeToLive == 30)
        #expect(Set(bench.server.queries.map(\.type)) == [1, 28])
        #expect(bench.server.queries.allSatisfy { $0.name == "two.test" })
    }

    @Test(arguments: [(UInt32(0), 1), (1, 1), (42, 42), (86400, 300)])
    func `times to live are kept within bounds`(sent: UInt32, kept: Int) throws {
        let bench = Bench { query in
            query.type == ScriptedNameServer.Query.a
                ? query.records([[127, 0, 0, 2]], timeToLive: sent) : query.records([])
        }
        #expect(try bench.resolve("one.test").get().timeToLive == kept)
    }

    @Test func `an alias that lives shorter than its target decides the time to live`() throws {
        let bench = Bench { query in
            query.type == ScriptedNameServer.Query.a
                ? query.alias(timeToLive: 7, [[127, 0, 0, 2]], timeToLive: 200) : query.records([])
        }
        let resolution = try bench.resolve("alias.test").get()
        #expect(resolution.addresses == [.ipv4([127, 0, 0, 2], port: 8080)])
        #expect(resolution.timeToLive == 7)
    }

    @Test func `errors are reported in words`() {
        let cases: [(String, (ScriptedNameServer.Query) -> [UInt8]?)] = [
            ("no such host", { $0.failure(3) }),
            ("the host has no address", { $0.records([]) }),
            ("the DNS server failed or cannot be reached", { $0.failure(2) }),
            ("the DNS server did not respond", { _ in nil }),
            ("the DNS server did not respond", { _ in [1, 2, 3] }),
            ("the DNS server did not respond", { Array($0.records([[127, 0, 0, 2]]).dropFirst(1)) }),
            ("the DNS server sent an invalid response", { Array($0.records([[127, 0, 0, 2]]).dropLast(3)) }),
        ]
        for (words, response) in cases {
            #expect(Bench(response: response).failure("name.test")?.description == words)
        }
    }

    @Test func `what is no name is rejected`() {
        let bench = Bench { $0.records([[127, 0, 0, 2]]) }
        #expect(bench.failure("") == .badName)
        #expect(bench.failure("a\0b") == .badName)
        #expect(bench.failure(String(repeating: "x", count: 64) + ".test") == .badName)
        #expect(bench.failure("a..test") == .badName)
        #expect(bench.server.queries.isEmpty)
    }

    @Test func `a server that is not there fails, or does not respond`() throws {
        let address = ScriptedNameServer { _ in nil }.address
        let error = try #require(Bench(servers: address) { _ in nil }.failure("name.test"))
        // Which of the two depends on the system call that the rejection comes with.
        #expect([.serverFailed, .noResponse].contains(error))
    }

    @Test func `a wrong list of servers is an error, not a crash`() {
        #expect(Bench(servers: "no address") { _ in nil }.failure("name.test") != nil)
    }

    @Test func `lookups at the same time do not disturb each other`() {
        let bench = Bench { query in
            if query.name == "none.test" { return query.failure(3) }
            guard query.type == ScriptedNameServer.Query.a else { return query.records([]) }
            return query.records([[127, 0, 0, UInt8(query.name.utf8.first!)]])
        }
        var responses: [String: String] = [:]
        for name in ["a.test", "none.test", "b.test"] {
            bench.resolver.resolve(name, port: 1) { result in
                switch result {
                case .success(let resolution): responses[name] = resolution.addresses.first?.description
                case .failure(let error): responses[name] = "\(error)"
                }
            }
        }
        bench.run { responses.count == 3 }
        #expect(responses == ["a.test": "127.0.0.97:1", "b.test": "127.0.0.98:1", "none.test": "no such host"])
    }

    @Test func `a completion may check up again, and the sockets are removed after the last`() {
        let bench = Bench { $0.type == ScriptedNameServer.Query.a ? $0.records([[127, 0, 0, 2]]) : $0.records([]) }
        var rounds = 0
        func next() {
            bench.resolver.resolve("again\(rounds).test", port: 1) { _ in
                rounds += 1
                if rounds < 3 { next() }
            }
        }
        next()
        #expect(!bench.interests.isEmpty)
        #expect(bench.resolver.nextTimeout != nil)
        bench.run { rounds == 3 }
        #expect(bench.interests.isEmpty)
        #expect(bench.resolver.nextTimeout == nil)
    }

    @Test func `a resolver that goes away forgets its sockets and completes nothing`() {
        var interests: Set<Int32> = []
        var completed = false
        do {
            let resolver = Resolver(.init(servers: "127.0.0.1:9")) { socket, reads, writes in
                if reads || writes { interests.insert(socket) } else { interests.remove(socket) }
            }
            resolver.resolve("name.test", port: 1) { _ in completed = true }
            #expect(!interests.isEmpty)
        }
        #expect(interests.isEmpty)
        #expect(!completed)
    }
}

/// A resolver, the server it asks, and a loop that runs both on this thread.
private final class Bench {
    let server: ScriptedNameServer
    let resolver: Resolver
    private let sockets = Sockets()

    final class Sockets {
        var interests: [Int32: Int32] = [:]
    }

    init(servers: String? = nil, response: @escaping (ScriptedNameServer.Query) -> [UInt8]?) {
        server = ScriptedNameServer(response: response)
        resolver = Resolver(.init(servers: servers ?? server.address, timeout: 250, tries: 1)) {
            [sockets] socket, reads, writes in
            let events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0)
            sockets.interests[socket] = events == 0 ? nil : Int32(events)
        }
    }

    var interests: [Int32: Int32] { sockets.interests }

    func resolve(_ name: String) -> Result<Resolution, ResolverError> {
        var outcome: Result<Resolution, ResolverError>?
        resolver.resolve(name, port: 8080) { outcome = $0 }
        run { outcome != nil }
        return outcome ?? .failure(.other("no outcome"))
    }

    func failure(_ name: String) -> ResolverError? {
        if case .failure(let error) = resolve(name) { return error }
        return nil
    }

    /// Runs until `isDone`, but not past ten seconds without any event.
    func run(until isDone: () -> Bool) {
        while !isDone() {
            var entries = [pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)]
            entries += interests.map { pollfd(fd: $0, events: Int16($1), revents: 0) }
            let ready = unsafe poll(&entries, UInt(entries.count), Int32(resolver.nextTimeout ?? 10_000))
            if ready == 0, resolver.nextTimeout == nil { return }
            if ready == 0 { resolver.processTimeouts() }
            if entries[0].revents != 0 { server.serve() }
            for entry in entries.dropFirst() where entry.revents != 0 {
                // An error shows when the socket is read or written, whichever was wanted.
                let events =
                    Int32(entry.revents) | (Int32(entry.revents) & (POLLERR | POLLHUP) != 0 ? Int32(entry.events) : 0)
                resolver.process(
                    readable: events & POLLIN != 0 ? entry.fd : nil,
                    writable: events & POLLOUT != 0 ? entry.fd : nil
                )
            }
        }
    }
}
