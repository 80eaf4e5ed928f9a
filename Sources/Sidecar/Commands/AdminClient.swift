internal import Bytes
private import Glibc

/// Asks a running daemon one question over its admin socket, and waits for the response.
enum AdminClient {
    /// What came of a question.
    enum Result {
        /// No connection could be made to any of the addresses.
        case nobodyListens
        /// This user may not connect to the socket.
        case notAllowed(SocketAddress)
        /// There was a connection, and no response on it in time: the daemon may do what it was asked, or not.
        case noResponse(SocketAddress)
        /// The response, with a body of at most 1 GiB, as a journal of a mock may have.
        case response(status: Int, body: String)
    }

    /// The seconds that each step of an exchange may take: to send, and to receive the next bytes.
    private static let seconds = 10
    private static let maxResponse = 1 << 30

    /// Sends a request without a body to the first address on which somebody listens.
    ///
    /// A request that has been sent is never retried, here or elsewhere: it may be a reload.
    static func ask(_ method: String, _ path: String, firstOf addresses: [SocketAddress]) -> Result {
        var result = Result.nobodyListens
        for address in addresses {
            guard let descriptor = connect(to: address) else {
                if errno == EACCES { result = .notAllowed(address) }
                continue
            }
            defer { close(descriptor) }
            return exchange(method, path, on: descriptor) ?? .noResponse(address)
        }
        return result
    }

    /// A connection to an address; nil if it cannot be made, and errno says why.
    private static func connect(to address: SocketAddress) -> Int32? {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(Int32(address.family.rawValue), kind, 0)
        guard descriptor >= 0 else { return nil }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        let result = unsafe address.bytes.withUnsafeBytes { bytes in
            let form = unsafe bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.connect(descriptor, form, socklen_t(bytes.count))
        }
        guard result == 0 else {
            let error = errno
            close(descriptor)
            errno = error
            return nil
        }
        return descriptor
    }

    private static func exchange(_ method: String, _ path: String, on descriptor: Int32) -> Result? {
        let request = Array(
            "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".utf8
        )
        // Whoever rejects a connection responds without having read, so a request that cannot be sent may have a response.
        _ = unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
        var response: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while response.count < maxResponse {
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            response += piece[..<count]
        }
        let text = String(decoding: response, as: UTF8.self)
        guard let status = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        guard let gap = text.firstRange(of: "\r\n\r\n") else { return nil }
        return .response(status: status, body: String(text[gap.upperBound...]))
    }
}
