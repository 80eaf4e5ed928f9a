internal import Bytes
internal import Events
internal import HTTP

/// What the interceptors of one call have decided and changed: for logs and for people who ask why.
///
/// Only what is worth telling is noted, and only so much of it. Values are never noted, only names. Used again for the
/// next call.
final class DecisionTrace {
    /// One thing that an interceptor has done.
    struct Note {
        /// Its place in the chain.
        let place: Int
        let event: ChainEvent.Label
        let verdict: Decision
        /// Where its changes lie in `changes`.
        fileprivate(set) var changes: Range<Int>
        /// How long it took in nanoseconds: where it has waited, until it was resumed; nil where nobody looked at a clock.
        var time: Nanoseconds?
    }

    /// What an interceptor has said of an event.
    enum Decision: String {
        case next, reject, respond, suspend, replace
    }

    /// One change of a head, by name.
    struct Change {
        let kind: HTTPEdit.Kind
        let name: ByteRange
    }

    /// The most that is noted of one call.
    static let mostNotes = 32
    static let mostChanges = 64

    private(set) var notes: [Note] = []
    private(set) var changes: [Change] = []
    /// What was not noted any more.
    private(set) var dropped = 0
    private let names = ByteArena(capacity: 256)

    /// Notes what an interceptor has done to an event; the changes are those of `head` from `first` on.
    func note(
        _ place: Int,
        _ event: ChainEvent.Label,
        _ verdict: Decision,
        head: HTTPHead?,
        from first: Int,
        time: Nanoseconds?
    ) {
        guard notes.count < Self.mostNotes else {
            dropped += 1
            return
        }
        let start = changes.count
        if let head {
            for edit in head.edits[first...].prefix(Self.mostChanges - start) {
                changes.append(Change(kind: edit.kind, name: names.add(head.name(of: edit).span)))
            }
        }
        notes.append(Note(place: place, event: event, verdict: verdict, changes: start..<changes.count, time: time))
    }

    /// Notes how long what an interceptor has suspended has waited.
    func resumed(_ place: Int, _ event: ChainEvent.Label, after time: Nanoseconds) {
        let isIt = { (note: Note) in note.place == place && note.event == event && note.verdict == .suspend }
        guard let index = notes.firstIndex(where: { isIt($0) && $0.time == nil }) else { return }
        notes[index].time = time
    }

    /// A change in words: `set x-env`, `removed x-debug`.
    func text(of change: Change) -> [UInt8] {
        let names = names
        return Array("\(change.kind) ".utf8) + names[change.name].array
    }

    func removeAll() {
        notes.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        names.removeAll()
        dropped = 0
    }
}

/// Keeps traces for the next calls.
final class DecisionTracePool {
    private var free: [DecisionTrace] = []

    func take() -> DecisionTrace {
        free.popLast() ?? DecisionTrace()
    }

    func give(_ trace: DecisionTrace) {
        trace.removeAll()
        if free.count < 512 { free.append(trace) }
    }
}
