public import Events

/// The writers of all logs, one for each place that lines go to, shared by the threads and kept through reloads.
public final class LineWriters: Sendable {
    private let writers = Locked<[LineWriter.Target: LineWriter]>([:])

    /// Makes an empty collection.
    package init() {}

    /// The writer to `target`, started if it is the first time; `mode` is that of a file, if it is to have a certain one.
    public func writer(to target: LineWriter.Target, mode: UInt32? = nil) -> LineWriter {
        let place = target.place
        return writers.withLock { writers in
            if let writer = writers[place] {
                if let mode { writer.use(mode: mode) }
                return writer
            }
            let writer = LineWriter(to: place, mode: mode)
            writers[place] = writer
            return writer
        }
    }

    /// The writer to a tape, started if it is the first time; `maxSize` is how long the file may be.
    public func writer(toTape path: String, maxSize: Int) -> LineWriter {
        writers.withLock { writers in
            if let writer = writers[.tape(path)] {
                writer.use(maxSize: maxSize)
                return writer
            }
            let writer = LineWriter(to: .tape(path), maxSize: maxSize)
            writers[.tape(path)] = writer
            return writer
        }
    }

    /// Opens all files again by their names.
    package func reopen() {
        for writer in all { writer.reopen() }
    }

    /// Writes what waits and ends all writers.
    package func finish() {
        for writer in all { writer.finish() }
    }

    private var all: [LineWriter] {
        writers.withLock { Array($0.values) }
    }
}
