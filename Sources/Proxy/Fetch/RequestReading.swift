internal import Events

/// Reads the files of a request, a step at a time.
///
/// The bytes count for `limits.memory` as soon as they are read.
struct RequestReading: SteppedWork {
    /// The number of bytes of a file that one step reads.
    static let stepSize = 256 * 1024

    private var request: FetchRequest
    /// The contents that are not in the body yet.
    private var remaining: ArraySlice<FetchBody.Content>
    private var file: OpenFile?
    private var body: [UInt8] = []
    private let memory: HeldMemory

    /// A file that is being read.
    private struct OpenFile {
        let path: String
        let pieces: FilePieces
        var size = 0

        /// The bytes of the next piece that the file did not have when it was opened.
        func growth(by count: Int) -> Int { min(count, max(0, size + count - pieces.sizeWhenOpened)) }
    }

    /// Creates work that reads the files of `request`.
    init(_ request: FetchRequest, memory: MemoryBudget) {
        self.request = request
        remaining = self.request.takeContents()[...]
        self.memory = HeldMemory(of: memory)
    }

    mutating func step() -> Result<LoadedRequest, NamedCallError>? {
        do throws(NamedCallError) {
            if file != nil {
                try readFile()
            } else if let next = remaining.popFirst() {
                try begin(next)
            } else {
                request.body = .bytes(body)
                return .success(LoadedRequest(request, memory: memory))
            }
            return nil
        } catch {
            return .failure(error)
        }
    }

    private mutating func begin(_ content: FetchBody.Content) throws(NamedCallError) {
        switch content {
        case .bytes(let bytes):
            try hold(bytes.count)
            body += bytes
        case .file(let path):
            do throws(SystemError) {
                let pieces = try FilePieces(regularFile: path)
                guard pieces.sizeWhenOpened <= CallFile.limit else { throw .tooLarge }
                file = OpenFile(path: path, pieces: pieces)
            } catch {
                throw .file(path, error)
            }
            // All of it at once: of many files that do not fit together, the first are read whole.
            try hold(file?.pieces.sizeWhenOpened ?? 0)
        }
    }

    private func hold(_ bytes: Int) throws(NamedCallError) {
        memory.add(bytes)
        if memory.isExhausted { throw .shortOfMemory }
    }

    /// Appends the next bytes of the file to the body.
    private mutating func readFile() throws(NamedCallError) {
        guard var file else { return }
        let end = file.size + Self.stepSize
        do throws(SystemError) {
            while file.size < end {
                guard let piece = try file.pieces.next() else {
                    self.file = nil
                    return
                }
                body += piece
                memory.add(file.growth(by: piece.count))
                file.size += piece.count
                guard file.size <= CallFile.limit else { throw .tooLarge }
            }
            self.file = file
        } catch {
            throw .file(file.path, error)
        }
    }
}
