import Bytes
import Glibc
import Testing

@testable import Events

/// Notes what a watch tells.
final class RecordingWatcher: Watcher {
    private(set) var reported: [String] = []
    var whenReadable: () -> Void = {}

    func readable() {
        reported.append("readable")
        whenReadable()
    }

    func writable() {
        reported.append("writable")
    }
}

/// Opens the letters of a mailbox on a loop.
final class MailOpener: Watcher {
    private(set) var count = 0
    private let mailbox: Mailbox<EventLoop>
    private let loop: EventLoop
    private var watch: Watch?

    init(_ mailbox: Mailbox<EventLoop>, _ loop: EventLoop) {
        self.mailbox = mailbox
        self.loop = loop
        watch = Watch(mailbox.descriptor, on: loop, for: self)
        watch?.watchesRead = true
    }

    deinit {
        watch?.end()
    }

    func readable() {
        count += 1
        mailbox.drain(into: loop)
    }

    func writable() {}
}

/// Two sockets that are connected to each other.
func pair() throws -> (Socket, Socket) {
    var descriptors: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let status = unsafe socketpair(AF_UNIX, kind, 0, &descriptors)
    try #require(status == 0)
    return (Socket(owning: descriptors[0]), Socket(owning: descriptors[1]))
}

extension Socket {
    /// Reads what there is.
    func text() -> String {
        let queue = ByteQueue()
        guard case .bytes = receive(into: queue, room: 65536) else { return "" }
        return queue.readable.string
    }

    func send(_ text: String) -> Transfer {
        send(Array(text.utf8).span)
    }
}
