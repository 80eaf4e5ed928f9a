import HTTP
import Telemetry
import Testing

@testable import Sidecar

/// Responses that are lines without end.
@Suite struct LineStreamTests {
    private let stream = ScriptedStream()
    private let streams = AdminStreams()

    private func exchange(isHead: Bool = false) -> AdminExchange {
        AdminExchange(stream, isHead: isHead, heads: HTTPHeadPool(), streams: streams)
    }

    private static func line(_ text: String) -> LineBuffer.Item { .line(Array("\(text)\n".utf8)) }

    @Test func `a source sends lines until it ends`() {
        var ends = 0
        exchange().send(
            .stream { lines in
                lines.onEnd = { ends += 1 }
                lines.append(Self.line("1"))
                lines.append(.lost(3))
                lines.append(Self.line("2"))
                #expect(!stream.hasEnded && streams.count == 1)
                lines.end()
                lines.end()
                lines.append(Self.line("3"))
            }
        )
        #expect((stream.status, stream.contentType) == (200, "application/x-ndjson"))
        #expect(stream.lines == ["1", #"{"lost":3}"#, "2"])
        #expect(stream.hasEnded && ends == 1 && streams.count == 0)
    }

    @Test func `a slow reader loses lines and is told how many`() throws {
        var source: LineStream?
        let exchange = exchange()
        stream.room = 0
        exchange.send(.stream { source = $0 })
        let lines = try #require(source)
        let text = String(repeating: "x", count: 1000)
        for number in 0..<5000 { lines.append(Self.line("\(number) \(text)")) }
        #expect(lines.bytes <= LineStream.maxBytes)
        while stream.queuedBytes > 0 {
            stream.drain()
            exchange.drained()
        }
        lines.append(Self.line("5000"))
        let sent = stream.lines
        let lost = try #require(sent.firstIndex { $0.hasPrefix("{") })
        #expect(sent[lost] == "{\"lost\":\(5000 - lost)}")
        #expect(sent[lost - 1].hasPrefix("\(lost - 1) "))
        #expect(sent[(lost + 1)...] == ["5000"])
        #expect(lost > 900 && lines.bytes == 0)
    }

    @Test func `what waits is sent before the end`() throws {
        var source: LineStream?
        let exchange = exchange()
        stream.room = 0
        exchange.send(.stream { source = $0 })
        let lines = try #require(source)
        let text = String(repeating: "x", count: 100_000)
        lines.append(Self.line(text))
        lines.append(Self.line("last"))
        lines.end()
        #expect(!stream.hasEnded && streams.count == 1)
        stream.drain()
        exchange.drained()
        #expect(stream.hasEnded && stream.lines == [text, "last"] && streams.count == 0)
    }

    @Test func `the source stops once if the reader goes`() throws {
        var source: LineStream?
        var ends = 0
        let exchange = exchange()
        exchange.send(
            .stream { lines in
                source = lines
                lines.onEnd = { ends += 1 }
            }
        )
        exchange.wasReset(.canceled)
        exchange.wasReset(.canceled)
        let lines = try #require(source)
        lines.append(Self.line("1"))
        lines.end()
        #expect(ends == 1 && stream.body.isEmpty && !stream.hasEnded && streams.count == 0)
    }

    @Test func `the end of the daemon ends all streams`() {
        var ends = 0
        let others = [ScriptedStream(), ScriptedStream()]
        let exchanges = others.map { AdminExchange($0, isHead: false, heads: HTTPHeadPool(), streams: streams) }
        for exchange in exchanges { exchange.send(.stream { $0.onEnd = { ends += 1 } }) }
        #expect(streams.count == 2)
        streams.endAll()
        streams.endAll()
        #expect(ends == 2 && others.allSatisfy(\.hasEnded) && streams.count == 0)
    }

    @Test func `there is a limit of streams`() {
        let others = (0..<AdminStreams.maxCount).map { _ in ScriptedStream() }
        let exchanges = others.map { AdminExchange($0, isHead: false, heads: HTTPHeadPool(), streams: streams) }
        for exchange in exchanges { exchange.send(.stream { _ in }) }
        var isStarted = false
        exchange().send(.stream { _ in isStarted = true })
        #expect(!isStarted && stream.status == 503)
        #expect(stream.lines == ["16 streams are open, and there may be no more; end one of them"])
        exchanges[0].wasReset(.canceled)
        exchange().send(.stream { _ in isStarted = true })
        #expect(isStarted)
    }

    @Test func `HEAD starts no source`() {
        var isStarted = false
        exchange(isHead: true).send(.stream { _ in isStarted = true })
        #expect(!isStarted && stream.status == 200 && stream.hasEnded && streams.count == 0)
    }

    @Test func `HEAD gets no body`() {
        exchange(isHead: true).send(.text("a"))
        #expect(stream.status == 200 && stream.hasEnded && stream.body.isEmpty && stream.contentLength == 2)
    }
}
