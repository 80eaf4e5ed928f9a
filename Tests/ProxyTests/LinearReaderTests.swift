import Bytes
import HTTP
import Policy
import Protocols
import RPC
import Testing
import TimeKit

@testable import Caching
@testable import Interceptors
@testable import Proxy

/// Lists whose length a caller, an upstream or a DNS server chooses are read in time that grows as the list does.
@Suite struct LinearReaderTests {
    /// A reader, and a list of `count` items for it that is as bad as can be.
    struct Reader: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The number of items from which on the growth shows.
        let count: Int
        /// Prepares a list, and returns what reads the list.
        let prepare: @Sendable (_ count: Int) -> () -> Void

        init(_ name: String, _ count: Int = 4000, _ prepare: @escaping @Sendable (Int) -> () -> Void) {
            (testDescription, self.count, self.prepare) = (name, count, prepare)
        }

        /// A reader of one text, which consists of repeated pieces.
        init(_ name: String, _ count: Int = 4000, of piece: String, _ read: @escaping @Sendable (Span<UInt8>) -> Void) {
            self.init(name, count) { count in
                let text = Array(String(repeating: piece, count: count).utf8)
                return { read(text.span) }
            }
        }
    }

    private static let readers = [
        Reader("the names of vary") { count in
            let head = head(["cache-control": "max-age=60", "vary": list("x-", count)])
            return { _ = VaryNames.isEverything(head) }
        },
        Reader("the names of connection") { count in
            let fields = (0..<190).map { ("f\($0)", "x") }
            let names = list("n", count)
            return {
                let head = head(Dictionary(uniqueKeysWithValues: fields + [("connection", names)]))
                head.removeConnectionFields()
            }
        },
        Reader("the directives of cache-control") { count in
            let head = head(["cache-control": list("max-age=", count)])
            return { _ = CacheControl(head) }
        },
        Reader("compressions", 60_000, of: "a,") { text in
            var position = 0
            while CompressionItem(in: text, at: &position) != nil {}
        },
        Reader("lines of trailers without a colon", 60_000, of: "a\n") { _ = TrailerLines.fields(of: $0) },
        Reader("lines of trailers", 60_000, of: "a:b\n") { _ = TrailerLines.fields(of: $0) },
        Reader("the parameters of a query", of: "a&") { _ = ConnectQuery($0) },
        Reader("escapes in a text", of: "%") { _ = MaskedText.masked(Array($0.array)) },
        Reader("secrets in a text", of: "a=b&") { _ = MaskedText.masked(Array($0.array)) },
        Reader("the segments of a path", of: "/a/..") { _ = URLPath.normal($0) },
        Reader("attributes of set-cookie", of: "a;") { _ = SetCookie($0.array.span) },
        Reader("the proxies in cdn-loop") { count in
            let head = head(["cdn-loop": String(repeating: "a, ", count: count)])
            return { _ = LoopGuard.findsLoop(in: head, isSample: false) }
        },
        Reader("the parameters of a mock") { count in
            let call = SomeCall([], target: "/?" + String(repeating: "a=1&", count: count))
            return { _ = MockQuery(of: call.call).values(of: "a") }
        },
    ]

    @Test(arguments: readers)
    func `four times the items take about four times as long, and not sixteen times`(_ reader: Reader) {
        // The shortest time of some: what else the machine does makes a linear reader no slower than that.
        let isLinear = (0..<10).contains { _ in
            let (few, many) = (reader.prepare(reader.count), reader.prepare(4 * reader.count))
            return minTime(many) < max(minTime(few), .microseconds(20)) * 6
        }
        #expect(isLinear)
    }

    @Test func `a mock reads the query once for all rules`() {
        let call = SomeCall([], target: "/?" + (0..<5000).map { "p\($0)=1" }.joined(separator: "&"))
        let isShared = (0..<10).contains { _ in
            let one = minTime { _ = MockQuery(of: call.call).values(of: "p") }
            let fifty = minTime {
                let query = MockQuery(of: call.call)
                for rule in 0..<50 { _ = query.values(of: "p\(rule)") }
            }
            return fifty < one * 5
        }
        #expect(isShared)
    }

    /// The time that `work` takes of the processor, the shortest of three.
    private func minTime(_ work: () -> Void) -> Duration {
        (0..<3).map { _ in ProcessorTime.measure(work) }.min() ?? .zero
    }

    private static func list(_ prefix: String, _ count: Int) -> String {
        (0..<count).map { "\(prefix)\($0)" }.joined(separator: ",")
    }

    private static func head(_ fields: [String: String]) -> HTTPHead {
        let head = HTTPHead()
        for (name, value) in fields { head.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        return head
    }
}
