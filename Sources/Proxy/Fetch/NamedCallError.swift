internal import Configuration
package import Events

/// Why a named call came to no request.
package enum NamedCallError: Error, Equatable {
    /// A file cannot be read, or is too large (EFBIG).
    case file(String, SystemError)
    /// With what came from the call, the path or the query is none that may be sent.
    case target

    /// The error in words, without anything that came from the call.
    package var text: String {
        switch self {
        case .file(let path, let error): "\(path): cannot be read: \(error.text)"
        case .target: "the path that was made for the request is none"
        }
    }
}

/// The files that named calls send.
enum CallFile {
    /// The largest file that is sent, in bytes.
    static let limit = 16 << 20

    /// The bytes of a file, read now.
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
            diagnostics.report("\(error.text); name a file of at most \(ByteCount.text(limit))", at: file.mark)
        }
    }
}
