import HTTP
import HTTP2Kit
import Testing

/// Peers that send frames of all kinds on few streams, mostly wrong ones.
@Suite struct HTTP2AnyFramesTests {
    /// What is told on one side of a connection, and sent.
    private struct Outcome: Equatable {
        let saw: [String]
        let sent: [String]
        let isClosed: Bool
    }

    private func frame(_ random: inout SeededGenerator) -> Frame {
        let any = Int.random(in: 0..<16, using: &random)
        let stream = any | 1
        let end = Bool.random(using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0...4: return .request(stream, end: end)
        case 5...7: return .data(stream, end ? "abc" : "", end: end)
        case 8: return .headers(stream, ["t": "1"], end: true)
        case 9: return .reset(stream, .cancel)
        case 10: return .window(stream, 1)
        case 11: return .priority(any, on: Int.random(in: 0..<20, using: &random))
        case 12: return .request(stream, end: end).unfinished
        case 13: return .continuation(stream, [], end: end)
        case 14: return .response(stream, end: end)
        default:
            let payload = [UInt8](repeating: 1, count: Int.random(in: 0..<12, using: &random))
            let type = UInt8.random(in: 0...10, using: &random)
            return Frame(type: type, flags: UInt8.random(in: 0...63, using: &random), stream: any, payload)
        }
    }

    private func pieces(of bytes: [UInt8], _ random: inout SeededGenerator, isMost: Bool) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let count = isMost ? 1 : Int.random(in: 1...rest.count, using: &random)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    private func atServer(_ pieces: [[UInt8]]) -> Outcome {
        let caller = HTTP2Caller.served()
        for piece in pieces where !caller.isClosed { caller.sends(piece) }
        let sent = caller.receive()
        return Outcome(saw: caller.saw, sent: sent, isClosed: caller.isClosed)
    }

    private func atClient(_ pieces: [[UInt8]]) -> Outcome {
        let upstream = HTTP2Upstream()
        for _ in 0..<4 { upstream.asks() }
        _ = upstream.receive()
        for piece in pieces where !upstream.isClosed { upstream.responses(piece) }
        let sent = upstream.receive()
        return Outcome(saw: upstream.saw, sent: sent, isClosed: upstream.isClosed)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `what becomes of any frames does not depend on how they are cut`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let count = Int.random(in: 1..<14, using: &random)
            let bytes = (0..<count).flatMap { _ in frame(&random).bytes }
            for outcome in [atServer, atClient] {
                let whole = outcome([bytes])
                try #require(outcome(pieces(of: bytes, &random, isMost: true)) == whole)
                try #require(outcome(pieces(of: bytes, &random, isMost: false)) == whole)
            }
        }
    }
}
