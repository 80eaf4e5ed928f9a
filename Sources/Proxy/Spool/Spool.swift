internal import Bytes
internal import Configuration
internal import Events
internal import Telemetry

/// What of a request's body is beyond the retry buffer: in a file, as far as it has been written there.
///
/// A thread of its own writes and reads, since a disk may have it wait: the loop only copies. Belongs to its worker's
/// thread. Which bytes are where is in `layout`.
final class Spool {
    /// What has happened to bytes.
    enum Event {
        /// They have been written or read.
        case moved
        /// They cannot be written: they stay in memory, and no more can come.
        case unwritable(SystemError)
        /// They cannot be read.
        case unreadable(SystemError)
    }

    /// What is in memory of one: a piece that comes, one that is written, and one that is read.
    static let memory = 3 * SpoolLayout.piece

    private(set) var layout = SpoolLayout()
    /// Whether another retry may need it, after the one that reads.
    var isKept = true
    /// Whether bytes of it are being handed to the attempt.
    var isSending = false
    /// Whether the attempt has so much that no more is handed to it for now.
    var isBlocked = false
    private let settings: UpstreamSpoolSettings
    private let file: SpoolFile
    /// Whether bytes go to the file: a few stay in memory.
    private var hasFile = false
    private let counter: UpstreamCounter
    private let budget: SpoolBudget
    private let worker: Worker
    /// Bytes that are on their way to the file; they stay here until they are there.
    private var unwritten: [UInt8] = []
    /// Bytes behind them.
    private var waiting: [UInt8] = []
    /// Bytes of the file that have been read for a retry.
    private var piece: [UInt8] = []
    /// Counts retries, so that what is read for one does not go with the next.
    private var retry = 0
    private var isReading = false
    /// The write that is in progress, or the last one.
    private var writing: LoopTask?
    /// The read that is in progress, or the last one.
    private var reading: LoopTask?
    /// Told what happens to bytes; nil once nobody wants them.
    private var onEvent: ((Event) -> Void)?

    /// Makes an empty spool.
    ///
    /// - Parameters:
    ///   - settings: where its file is, and how large.
    ///   - budget: what all spools of the upstream have.
    ///   - counter: by what the metrics know the upstream.
    ///   - worker: whose thread it belongs to.
    ///   - onEvent: told what happens to bytes.
    init(
        _ settings: UpstreamSpoolSettings,
        _ budget: SpoolBudget,
        _ counter: UpstreamCounter,
        on worker: Worker,
        onEvent: @escaping (Event) -> Void
    ) {
        (self.settings, self.budget, self.counter) = (settings, budget, counter)
        (self.worker, self.onEvent) = (worker, onEvent)
        file = SpoolFile(in: settings.directory.text)
        worker.context.meter.add(Self.memory)
    }

    /// Nobody needs it any more: its file is gone as soon as the disk allows.
    func end() {
        guard onEvent != nil else { return }
        onEvent = nil
        writing?.cancel()
        reading?.cancel()
        worker.context.meter.add(-Self.memory)
        worker.counters.spool(counter, files: hasFile ? -1 : 0, bytes: -layout.count)
        budget.release(layout.count)
        // To free a large file takes the kernel a tenth of a second.
        if hasFile { BlockingThread.spool.discard(file) }
    }

    // MARK: What comes

    /// Keeps bytes.
    ///
    /// - Returns: why they cannot be kept, if they cannot.
    func append(_ bytes: Span<UInt8>) -> RetrySkipReason? {
        guard layout.count + bytes.count <= settings.max else { return .spool }
        guard budget.acquire(bytes.count, limit: settings.total) else { return .spoolTotal }
        worker.counters.spool(counter, files: 0, bytes: bytes.count)
        if waiting.isEmpty { waiting.reserveCapacity(SpoolLayout.piece + WireContext.readSize) }
        waiting.append(copy: bytes)
        layout.append(bytes.count)
        write()
        return nil
    }

    private func write() {
        guard layout.beginWrite() else { return }
        if !hasFile { worker.counters.spool(counter, files: 1, bytes: 0) }
        hasFile = true
        swap(&unwritten, &waiting)
        waiting.removeAll(keepingCapacity: true)
        let (file, bytes, offset) = (file, unwritten, layout.written)
        writing = worker.services.tasks.start(on: .spool) {
            file.write(bytes, at: offset)
        } then: { [self] error in
            wrote(error)
        }
    }

    private func wrote(_ error: SystemError?) {
        if let error {
            layout.failed()
            onEvent?(.unwritable(error))
        } else {
            layout.hasWritten()
            if onEvent != nil { write() }
            onEvent?(.moved)
        }
    }

    // MARK: A retry

    /// Whether a retry reads it.
    var isRead: Bool { layout.position != nil }

    /// A retry reads it from the first byte on.
    func rewind() {
        endRetry()
        layout.rewind()
    }

    /// The retry has read all, or is over.
    func endRetry() {
        retry += 1
        reading?.cancel()
        (piece, isReading) = ([], false)
        layout.endRetry()
        if onEvent != nil { write() }
    }

    /// The bytes that the retry sends next, which counts them as sent; nil if they are not in memory yet, or at the end.
    func nextPiece() -> ArraySlice<UInt8>? {
        if !piece.isEmpty {
            layout.sent(piece.count)
            defer { piece = [] }
            return piece[...]
        }
        let bytes: ArraySlice<UInt8>
        switch layout.next {
        case .file(let offset, let count):
            read(count, at: offset)
            return nil
        case .unwritten(let index): bytes = unwritten[index...]
        case .waiting(let index): bytes = waiting[index...]
        case .wait, .end: return nil
        }
        layout.sent(bytes.count)
        return bytes
    }

    private func read(_ count: Int, at offset: Int) {
        guard !isReading else { return }
        isReading = true
        let (file, retry) = (file, retry)
        reading = worker.services.tasks.start(on: .spool) {
            file.read(at: offset, count: count)
        } then: { [self] result in
            guard retry == self.retry else { return }
            isReading = false
            switch result {
            case .success(let bytes):
                piece = bytes
                onEvent?(.moved)
            case .failure(let error):
                onEvent?(.unreadable(error))
            }
        }
    }
}
