import Testing

@testable import Proxy

struct SpoolLayoutTests {
    private let piece = SpoolLayout.piece

    /// A layout with so many pieces in the file, and bytes that wait behind them.
    private func layout(pieces: Int, waiting: Int = 0) -> SpoolLayout {
        var layout = SpoolLayout()
        for _ in 0..<pieces {
            layout.append(piece)
            begins(&layout)
            layout.hasWritten()
        }
        layout.append(waiting)
        return layout
    }

    /// Has what waits written, if it is time for that.
    private func begins(_ layout: inout SpoolLayout, _ expected: Bool = true) {
        let begins = layout.beginWrite()
        #expect(begins == expected)
    }

    @Test func `less than a piece stays in memory`() {
        var layout = layout(pieces: 0, waiting: piece - 1)
        begins(&layout, false)
        layout.append(1)
        begins(&layout)
        #expect((layout.written, layout.unwritten, layout.waiting) == (0, piece, 0))
        layout.hasWritten()
        #expect((layout.written, layout.unwritten, layout.waiting) == (piece, 0, 0))
    }

    @Test func `one piece is written at a time, and the caller waits when another is full`() {
        var layout = layout(pieces: 0, waiting: piece)
        begins(&layout)
        layout.append(piece - 1)
        begins(&layout, false)
        #expect(!layout.isCrowded)
        layout.append(2)
        begins(&layout, false)
        #expect(layout.isCrowded)
        layout.hasWritten()
        #expect(!layout.isCrowded)
        begins(&layout)
        #expect(layout.count == 2 * piece + 1)
    }

    @Test func `a retry reads the file in pieces, then what waits`() {
        var layout = layout(pieces: 2, waiting: 10)
        layout.append(piece)
        begins(&layout)
        layout.hasWritten()
        layout.append(7)
        #expect(layout.next == .end)
        layout.rewind()
        var steps: [SpoolLayout.Step] = []
        while layout.next != .end {
            steps.append(layout.next)
            if case .file(_, let count) = layout.next { layout.sent(count) } else { layout.sent(layout.waiting) }
        }
        #expect(
            steps == [
                .file(offset: 0, count: piece), .file(offset: piece, count: piece),
                .file(offset: 2 * piece, count: piece), .file(offset: 3 * piece, count: 10), .waiting(from: 0),
            ]
        )
    }

    @Test func `a retry waits for what is on its way to the file`() {
        var layout = layout(pieces: 1, waiting: piece)
        begins(&layout)
        layout.append(5)
        layout.rewind()
        layout.sent(piece)
        #expect(layout.next == .wait)
        layout.hasWritten()
        #expect(layout.next == .file(offset: piece, count: piece))
        layout.sent(piece)
        #expect(layout.next == .waiting(from: 0))
        layout.sent(5)
        #expect(layout.next == .end)
    }

    @Test func `what cannot be written is read from memory`() {
        var layout = layout(pieces: 1, waiting: piece)
        begins(&layout)
        layout.append(5)
        layout.failed()
        #expect(!layout.isCrowded)
        begins(&layout, false)
        layout.rewind()
        layout.sent(piece)
        #expect(layout.next == .unwritten(from: 0))
        layout.sent(piece)
        #expect(layout.next == .waiting(from: 0))
        layout.sent(5)
        #expect(layout.next == .end)
    }

    @Test func `nothing is written while a retry reads, and everything behind it`() {
        var layout = layout(pieces: 1, waiting: piece)
        layout.rewind()
        begins(&layout, false)
        layout.endRetry()
        begins(&layout)
    }

    @Test func `each retry begins with the first byte`() {
        var layout = layout(pieces: 1, waiting: 1)
        layout.rewind()
        layout.sent(piece)
        layout.rewind()
        #expect(layout.next == .file(offset: 0, count: piece))
    }
}
