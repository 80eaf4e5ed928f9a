internal import Bytes
internal import Events
internal import HTTP
internal import Time

/// What the interceptors of one call have decided and changed: for logs and for people who ask why.
///
/// Only what is worth telling is noted, and only so much of it. Values are never noted, only names. Used again for the
/// next call.
final class DecisionTrace {
    /// One thing that an interceptor has done.
    struct Note {
        /// Its index in the chain.
        let index: Int
        /// When it was noted.
        let at: Instant
        let event: ChainEvent.Label
        fileprivate(set) var verdict: Decision
        /// Its changes: those of the request's head by their place there, since that stays as long as the trace does; of
        /// others by their place in `changes`.
        fileprivate let changes: Range<Int>
        /// How long it took: where it has waited, until it was resumed; nil where nobody looked at a clock.
        var time: Duration?
        /// Why it came to nothing, if it did.
        fileprivate(set) var reason: StaticString?
        /// Where the response was resumed: the next byte, counted from the first one of the representation.
        fileprivate(set) var offset: Int?

        /// What there is to say of it.
        var text: String? { offset.map { "resumed at \($0)" } ?? reason.map { "\($0)" } }
    }

    /// What an interceptor has said of an event.
    enum Decision: String {
        case next, reject, respond, reset, suspend, replace, retry
        case retrySkipped = "retry_skipped"
        case resume
        case resumeSkipped = "resume_skipped"
    }

    private struct Change {
        let kind: HTTPEdit.Kind
        let name: ByteRange
    }

    /// The most that is noted of one call.
    static let maxNotes = 32
    static let maxChanges = 64

    private(set) var notes: [Note] = []
    /// The time of what is noted next.
    var now = Instant.start
    /// What was not noted any more.
    private(set) var dropped = 0
    private var changes: [Change] = []
    private let names = ByteArena(capacity: 256)

    /// Notes what an interceptor has done to the head of the request; `edits` are its changes there.
    func noteRequestHead(_ index: Int, _ verdict: Decision, edits: Range<Int>, time: Duration?) {
        add(Note(index: index, at: now, event: .requestHead, verdict: verdict, changes: edits, time: time))
    }

    /// Notes what an interceptor has done to another event; the changes are those of `head` from `first` on.
    func note(
        _ index: Int,
        _ event: ChainEvent.Label,
        _ verdict: Decision,
        head: HTTPHead?,
        from first: Int,
        time: Duration?
    ) {
        add(Note(index: index, at: now, event: event, verdict: verdict, changes: keep(head, from: first), time: time))
    }

    private func add(_ note: Note) {
        guard notes.count < Self.maxNotes else {
            dropped += 1
            return
        }
        notes.append(note)
    }

    /// Keeps the changes of a head that does not stay.
    private func keep(_ head: HTTPHead?, from first: Int) -> Range<Int> {
        let start = changes.count
        head?.readEdits(first, maxCount: Self.maxChanges - start, names: names) { kind, name in
            changes.append(Change(kind: kind, name: name))
        }
        return start..<changes.count
    }

    /// Notes that a retry was skipped: of a link that has returned `retry`, or, not noted yet, of one that would have.
    func retrySkipped(_ index: Int, _ event: ChainEvent.Label, _ reason: StaticString, isNoted: Bool) {
        if !isNoted || notes.last?.index != index || notes.last?.verdict != .retry {
            add(Note(index: index, at: now, event: event, verdict: .retry, changes: 0..<0))
        }
        guard dropped == 0, let last = notes.indices.last else { return }
        notes[last].verdict = .retrySkipped
        notes[last].reason = reason
    }

    /// Notes that a response which had broken off was resumed at an offset, for the link at `index`.
    func resumed(_ index: Int, at offset: Int) {
        var note = Note(index: index, at: now, event: .body, verdict: .resume, changes: 0..<0)
        note.offset = offset
        add(note)
    }

    /// Notes why a response that had broken off was not resumed.
    func resumeSkipped(_ index: Int, _ reason: StaticString) {
        var note = Note(index: index, at: now, event: .body, verdict: .resumeSkipped, changes: 0..<0)
        note.reason = reason
        add(note)
    }

    /// Notes how long what an interceptor has suspended has waited.
    func resumed(_ index: Int, _ event: ChainEvent.Label, after time: Duration) {
        let isIt = { (note: Note) in note.index == index && note.event == event && note.verdict == .suspend }
        guard let found = notes.firstIndex(where: { isIt($0) && $0.time == nil }) else { return }
        notes[found].time = time
    }

    /// The changes of a note in words: `set x-env`, `removed x-debug`.
    func changes(of note: Note, in request: HTTPHead) -> [[UInt8]] {
        let names = names
        guard note.event == .requestHead else {
            return changes[note.changes].map { Self.text($0.kind, names[$0.name]) }
        }
        var texts: [[UInt8]] = []
        let maxCount = min(note.changes.count, Self.maxChanges)
        let kept = ByteArena(capacity: 256)
        request.readEdits(note.changes.lowerBound, maxCount: maxCount, names: kept) { kind, name in
            texts.append(Self.text(kind, kept[name]))
        }
        return texts
    }

    private static func text(_ kind: HTTPEdit.Kind, _ name: Span<UInt8>) -> [UInt8] {
        Array("\(kind) ".utf8) + name.array
    }

    func removeAll() {
        notes.removeAll(keepingCapacity: true)
        if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
        names.removeAll()
        dropped = 0
    }
}

/// Keeps traces for the next calls.
final class DecisionTracePool {
    private var free = FreeList<DecisionTrace>(limit: 512)

    func acquire() -> DecisionTrace {
        free.acquire() ?? DecisionTrace()
    }

    func release(_ trace: consuming DecisionTrace) {
        trace.removeAll()
        free.release(trace)
    }

    /// Forgets the traces that nobody has needed since the last trim.
    func trim() {
        free.trim()
    }
}
