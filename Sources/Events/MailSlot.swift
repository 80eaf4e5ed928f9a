/// Opens the letters of a mailbox on a loop: as many in a turn as do not hold up what else is ready.
public final class MailSlot<Resident>: Watcher, EndOfTurn {
    private let mailbox: Mailbox<Resident>
    private let resident: Resident
    private unowned let loop: EventLoop
    private var watch: Watch?

    /// Hands all letters that arrive to `resident`, on the thread of `loop`.
    public init(_ mailbox: Mailbox<Resident>, for resident: Resident, on loop: EventLoop) {
        self.mailbox = mailbox
        self.resident = resident
        self.loop = loop
        watch = Watch(mailbox.descriptor, on: loop, for: self)
        watch?.watchesRead = true
    }

    /// Opens what has arrived.
    public func readable() {
        // The rest comes behind what is ready by then.
        if mailbox.drain(into: resident, paused: { loop.hasRunLong }) { loop.atNextTurn(self) }
    }

    /// Opens what has waited since the turn before.
    public func endOfTurn() {
        readable()
    }

    /// Does nothing: nobody waits to write.
    public func writable() {}
}
