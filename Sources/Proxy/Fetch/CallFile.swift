internal import Configuration
internal import Events

/// The files that named calls send.
enum CallFile {
    /// The largest file that is sent, in bytes.
    static let limit = 16 << 20

    /// The bytes that a file has now.
    ///
    /// The thread waits for the disk: it must not be a worker's.
    static func read(_ path: String) throws(NamedCallError) -> [UInt8] {
        switch SmallFile.read(path, limit: limit) {
        case .success(let bytes): return bytes
        case .failure(let error): throw .file(path, error)
        }
    }

    /// Reports a file that could not be read now.
    static func check(_ file: MarkedString, into diagnostics: Diagnostics) {
        do throws(NamedCallError) {
            _ = try read(file.text)
        } catch {
            diagnostics.report("\(error.text); use a file of at most \(ByteCount.text(limit))", at: file.mark)
        }
    }
}
