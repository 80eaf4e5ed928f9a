internal import Bytes
internal import Compressors
internal import Events
internal import Protocols
internal import RPC
internal import Telemetry

/// Large messages are decompressed, and read as JSON, on a thread of their own before an interceptor gets them: that takes
/// milliseconds, in which the worker serves its other calls.
extension Call {
    /// The size from which on a message is large.
    private static let large = 128 * 1024

    /// Appends the bytes that a compressed message stands for, unless it is large.
    ///
    /// - Returns: The way to decompress a large one.
    /// - Throws: The error for the caller if Martlet cannot decompress the message.
    func decompressSmall(
        _ payload: Span<UInt8>,
        _ direction: Direction,
        into queue: ByteQueue
    ) throws(RPCError) -> Packing? {
        let compression = compression(direction)
        guard compression != .identity else {
            throw RPCError(
                .internal,
                "a \(direction.sender) message is compressed, but no header names the compression"
            )
        }
        guard payload.count > 0 else { return nil }
        guard Compressor.supports(compression) else { throw .unknownCompression(direction) }
        let packing = Packing(
            compression: compression,
            direction: direction,
            limit: callerLeg.listener.heldMessageLimit
        )
        let limit = isClosing ? packing.limit : min(packing.limit, Self.large)
        do throws(DecompressionError) {
            try worker.compressor.decompress(payload, from: compression, into: queue, limit: limit)
        } catch {
            // The window of zstd may be larger than its message.
            let isLarge = error == .overLimit || compression == .zstd
            guard limit < packing.limit, isLarge else { throw RPCError(error, direction, limit: limit) }
            return packing
        }
        return nil
    }

    /// Whether a message has to wait at a link until it has been read, or has ended its direction of the call.
    func waits(_ message: Message, _ bytes: Span<UInt8>, _ direction: Direction, at index: Int) -> Bool {
        if let reading = reading(of: message, bytes, at: index) {
            hold(.message(message), bytes, direction, at: index, .reading(reading))
            wait(for: reading, index, direction)
            return true
        }
        guard let error = message.error else { return false }
        failBody(error, direction)
        return true
    }

    /// Returns what a message has to wait for at a link, or `nil` if the link may have it at once.
    private func reading(of message: Message, _ bytes: Span<UInt8>, at index: Int) -> Suspension? {
        if let packing = message.packing {
            guard !isClosing else {
                message.withArrived(bytes) {
                    let large = LargeMessage(bytes: $0.array, packing: packing, reading: nil)
                    message.unpack(large.output(within: worker.context.memory))
                }
                return nil
            }
            let reads = run.interceptor(index).readsJSON(of: message, Self.large + 1, self)
            return message.withArrived(bytes) { reading($0, of: message, packing, reads: reads) }
        }
        guard !message.isRead, !isClosing else { return nil }
        return message.withPayload(or: bytes) { payload in
            guard payload.count >= Self.large, run.interceptor(index).readsJSON(of: message, payload.count, self)
            else { return nil }
            return reading(payload, of: message, nil, reads: true)
        }
    }

    private func reading(_ payload: Span<UInt8>, of message: Message, _ packing: Packing?, reads: Bool) -> Suspension {
        let large = LargeMessage(
            bytes: payload.array,
            packing: packing,
            reading: reads ? reading(message.direction) : nil
        )
        let (memory, counters) = (worker.context.memory, worker.counters)
        let held = HeldMemory(of: memory)
        held.add(payload.count)
        let suspension = Suspension(on: .messages) {
            large.output(within: memory)
        } then: { [meter = worker.context.meter] output in
            message.unpack(output)
            guard let read = output.read else { return }
            if read.exceedsMemory { counters.limitHit(.memory) }
            message.read(read.counted(by: meter))
        }
        suspension.heldBytes = { held.bytes }
        return suspension
    }

    /// Hands to a link what waits for that there, in its order, as far as that can be: what came before it may wait further.
    func deliver(_ queue: HoldQueue, _ direction: Direction) {
        let index = queue.index
        while !isOver, let place = queue.firstUndelivered {
            let event = queue.events[place].event
            if case .reading(let reading) = queue.events[place].state {
                guard reading.isResumed else { return }
                hasResumed(reading, index, event, direction)
            } else {
                guard place == 0 || !run.chain.links[index].isSerial else { return }
                if case .message(let message) = event, let reading = reading(of: message, Span(), at: index) {
                    queue.events[place].state = .reading(reading)
                    return wait(for: reading, index, direction)
                }
            }
            if case .message(let message) = event, let error = message.error { return failBody(error, direction) }
            let bytes = queue.events[place].bytes
            let verdict =
                if let bytes {
                    askNoting(index, event, bytes.readable, direction)
                } else {
                    askNoting(index, event, Span(), direction)
                }
            guard !isOver, place < queue.events.count else { return }
            switch verdict {
            case .next: queue.events[place].state = .ready
            case .suspend(let suspension) where suspension.claim():
                queue.events[place].state = .suspended(suspension)
                begin(suspension, index, direction)
            default: queue.events[place].state = .delivered(verdict)
            }
        }
    }
}
