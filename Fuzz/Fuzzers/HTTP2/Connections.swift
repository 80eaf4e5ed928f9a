internal import Bytes

/// HTTP/2 connections whose peer sends anything; the first byte chooses what else happens.
///
/// Nothing crashes, users are told each thing once and their end, memory has a bound, and what arrives does not depend on how
/// it is cut.
enum Connections {
    static func callers(_ input: Span<UInt8>) { run(input, isServer: true) }
    static func upstreams(_ input: Span<UInt8>) { run(input, isServer: false) }

    private static func run(_ input: Span<UInt8>, isServer: Bool) {
        guard input.count > 0 else { return }
        let choice = input[0]
        let frames = Frames.bytes(input.extracting(1...), isRaw: choice & 1 == 0)
        let before = Memory.allocated
        let whole = HTTP2End(isServer: isServer, choice: choice).read(frames, .none)
        let cut = HTTP2End(isServer: isServer, choice: choice).read(frames, .some)
        demand(Memory.allocated - before < 1 << 20, "a connection that is over leaves nothing")
        // A connection that is over is so at another byte if something was sent meanwhile.
        if !whole.hasEnded, !cut.hasEnded { demandSame(whole, cut, "frames read, whole and in pieces") }
    }
}
