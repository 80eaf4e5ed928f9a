internal import Bytes
internal import Documents
internal import Events
internal import Protocols
internal import Telemetry

/// Large messages are read as JSON on a thread of their own, before an interceptor gets them that wants them so: to read one
/// takes milliseconds, in which the worker serves its other calls.
extension Call {
    /// The size from which on a message is large.
    private static let large = 128 * 1024

    /// Returns what a message has to wait for at a link, or `nil` if the link may have the event at once.
    func reading(of event: ChainEvent, _ bytes: Span<UInt8>, at index: Int) -> Suspension? {
        guard case .message(let message) = event, !message.isRead, !isClosing else { return nil }
        return message.withPayload(or: bytes) { payload in
            guard payload.count >= Self.large,
                run.interceptor(index).readsJSON(of: message, payload.count, self)
            else { return nil }
            return reading(payload, of: message)
        }
    }

    private func reading(_ payload: Span<UInt8>, of message: Message) -> Suspension {
        let (reading, memory, counters) = (reading(message.direction), worker.context.memory, worker.counters)
        let held = HeldMemory(of: memory)
        held.add(payload.count)
        let text = payload.array
        let suspension = Suspension(on: .messages) {
            reading.read(text, room: memory.room)
        } then: { [meter = worker.context.meter] read in
            if read.exceedsMemory { counters.limitHit(.memory) }
            message.read(read.counted(by: meter))
        }
        suspension.heldBytes = { held.bytes }
        return suspension
    }

    /// Lets a message wait at a link until it has been read.
    func holdForReading(
        _ reading: Suspension,
        _ index: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) {
        hold(event, bytes, direction, at: index, .reading(reading))
        wait(for: reading, index, direction)
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
                if let reading = reading(of: event, Span(), at: index) {
                    queue.events[place].state = .reading(reading)
                    return wait(for: reading, index, direction)
                }
            }
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
