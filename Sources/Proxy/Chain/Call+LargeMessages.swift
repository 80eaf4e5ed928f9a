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
    static let large = 128 * 1024

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
            waitToRead(reading, index, direction)
            return true
        }
        guard let error = message.error else { return false }
        failBody(error, direction)
        return true
    }

    /// Lets a message wait until it has been read, which takes as long as the messages before it take.
    private func waitToRead(_ reading: Suspension, _ index: Int, _ direction: Direction) {
        reading.resumed = { [unowned self] in wasResumed(direction, index) }
        ledger.wait(index, at: worker.context.loop.now)
        reading.begin(nil, at: worker.context.loop.now, worker.services.tasks)
    }

    /// Returns what a message has to wait for at a link, or `nil` if the link may have it at once.
    private func reading(of message: Message, _ bytes: Span<UInt8>, at index: Int) -> Suspension? {
        if let packing = message.packing {
            guard asksForMessage(message, index) else { return nil }
            guard !isClosing else {
                message.withArrived(bytes) {
                    let reading = reading(message.direction)
                    let large = LargeMessage(bytes: $0.array, packing: packing, reading: reading, maxJSON: 0)
                    message.unpack(large.output(within: worker.context.memory))
                }
                return nil
            }
            return message.withArrived(bytes) {
                reading($0, of: message, packing, maxJSON: run.interceptor(index).maxJSON(of: message, self))
            }
        }
        guard !message.isRead, !isClosing else { return nil }
        return message.withPayload(or: bytes) { payload in
            guard payload.count >= Self.large else { return nil }
            let maxJSON = run.interceptor(index).maxJSON(of: message, self)
            return payload.count <= maxJSON ? reading(payload, of: message, nil, maxJSON: maxJSON) : nil
        }
    }

    private func reading(
        _ payload: Span<UInt8>,
        of message: Message,
        _ packing: Packing?,
        maxJSON: Int
    ) -> Suspension {
        let large = LargeMessage(
            bytes: payload.array,
            packing: packing,
            reading: reading(message.direction),
            maxJSON: maxJSON
        )
        let (memory, counters) = (worker.context.memory, worker.counters)
        let held = HeldMemory(of: memory)
        held.add(payload.count)
        let suspension = Suspension(on: .messages) {
            let output = large.output(within: memory)
            held.add(output.heldBytes)
            return output
        } then: { [meter = worker.context.meter] output in
            // The meter and the queue count the same from here on.
            held.add(-held.bytes)
            message.unpack(output)
            guard let read = output.read else { return }
            if read.exceedsMemory { counters.limitHit(.memory) }
            message.read(read.counted(by: meter))
        }
        suspension.heldBytes = { held.bytes }
        return suspension
    }

    /// Hands the undelivered events of a link to it, in order, until one has to be read or the first event of all may leave.
    func deliver(_ queue: HoldQueue, _ direction: Direction) {
        let index = queue.index
        while !isOver, let place = queue.firstUndelivered, place == 0 || !queue.mayLeave {
            let event = queue.events[place].event
            if case .reading(let reading) = queue.events[place].state {
                guard reading.isResumed else { return }
                endWait()
                if flows[direction].queues.recount(queue, at: place) { boundHeld(direction, at: index) }
            } else {
                guard place == 0 || !run.chain.links[index].isSerial else { return }
                if case .message(let message) = event, let reading = reading(of: message, Span(), at: index) {
                    queue.events[place].state = .reading(reading)
                    return waitToRead(reading, index, direction)
                }
            }
            // Its error counts when it is the first: those before it may still go on.
            if case .message(let message) = event, message.error != nil { return }
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
            case .reject, .respond, .reset:
                guard place > 0, direction == .request else { fallthrough }
                _ = settle(verdict, index, event, Span(), direction)
                return
            default: queue.events[place].state = .delivered(verdict)
            }
        }
    }

    /// Ends a direction with the first event of a link, if that is a message that cannot be decompressed.
    func failUnread(_ queue: HoldQueue, _ direction: Direction) {
        guard case .message(let message)? = queue.events.first?.event, let error = message.error else { return }
        let end = direction == .response ? flows.response.queues.end(from: queue.index) : nil
        releaseHeld(direction, from: queue.index)
        if direction == .response { releaseRest(direction) }
        guard let end else { return failBody(error, direction) }
        // The links behind this one have seen the end already.
        if error.code == .resourceExhausted { worker.counters.limitHit(.heldMessage) }
        record.decider = .martlet
        let failed = ResponseEnd(failing: error, trailers: end.trailers, rpcProtocol)
        pass(.responseEnd(failed), .response, from: queue.index)
    }
}
