internal import Bytes
private import Glibc
internal import Time

/// Asks a running daemon one question over its admin socket, and waits for the response.
enum AdminClient {
    /// What came of a question.
    enum Result {
        /// No connection could be made to any of the addresses.
        case nobodyListens
        /// This user may not connect to the socket.
        case notAllowed(SocketAddress)
        /// A process listens that may not be the daemon; it was asked nothing.
        case notTrusted(SocketAddress, AdminListener)
        /// There was a connection, and no response on it in time: the daemon may do what it was asked, or not.
        case noResponse(SocketAddress)
        /// The response, with a body of at most 1 GiB, as a journal of a mock may have.
        case response(status: Int, body: String)
    }

    /// How long each step of an exchange may take: to send, and to receive the next bytes.
    static let usualTime = 10 * Duration.second
    private static let maxResponse = 1 << 30

    /// Sends a request without a body to the first address on which somebody listens.
    ///
    /// A request that has been sent is never retried, here or elsewhere: it may be a reload.
    static func ask(
        _ method: String,
        _ path: String,
        firstOf addresses: [SocketAddress],
        within time: Duration = usualTime
    ) -> Result {
        var result = Result.nobodyListens
        for address in addresses {
            guard let descriptor = connect(to: address, within: time) else {
                if errno == EACCES { result = .notAllowed(address) }
                continue
            }
            defer { close(descriptor) }
            return stranger(at: address, on: descriptor) ?? exchange(method, path, on: descriptor)
                ?? .noResponse(address)
        }
        return result
    }

    /// A connection to an address; nil if it cannot be made, and errno says why.
    private static func connect(to address: SocketAddress, within time: Duration = usualTime) -> Int32? {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(Int32(address.family.rawValue), kind, 0)
        guard descriptor >= 0 else { return nil }
        var limit = timeval(tv_sec: time.seconds, tv_usec: Int(time.nanoseconds % 1_000_000_000) / 1000)
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

    /// The result of a connection to a process that may not be the daemon; `nil` if it may be.
    private static func stranger(at address: SocketAddress, on descriptor: Int32) -> Result? {
        guard let listener = AdminListener(at: address, on: descriptor), !listener.isTrusted else { return nil }
        return .notTrusted(address, listener)
    }

    /// Sends a request to the first address on which somebody listens, whose response is lines without end.
    ///
    /// - Parameters:
    ///   - path: what is asked for, by GET.
    ///   - addresses: where to ask, in this order.
    ///   - onLine: receives each line without its line feed; the stream is left when it returns false.
    /// - Returns: the response if it is no stream, with its body; 200 and nothing when the stream is over.
    static func follow(
        _ path: String,
        firstOf addresses: [SocketAddress],
        onLine: (ArraySlice<UInt8>) -> Bool
    ) -> Result {
        var result = Result.nobodyListens
        for address in addresses {
            guard let descriptor = connect(to: address) else {
                if errno == EACCES { result = .notAllowed(address) }
                continue
            }
            defer { close(descriptor) }
            return stranger(at: address, on: descriptor) ?? follow(path, on: descriptor, onLine)
                ?? .noResponse(address)
        }
        return result
    }

    private static func follow(_ path: String, on descriptor: Int32, _ onLine: (ArraySlice<UInt8>) -> Bool) -> Result? {
        // In HTTP/1.0 a body without a length has no chunks.
        let request = Array("GET \(path) HTTP/1.0\r\nhost: localhost\r\n\r\n".utf8)
        _ = unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
        var (received, piece) = ([UInt8](), [UInt8](repeating: 0, count: 64 * 1024))
        var isStream = false
        while received.count < maxResponse {
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            received += piece[..<count]
            if !isStream, let gap = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                guard received.starts(with: Array("HTTP/1.1 200".utf8)) else { continue }
                isStream = true
                received.removeFirst(gap.upperBound)
                // The next line comes when it comes.
                var limit = timeval()
                unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            }
            while isStream, let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                guard onLine(received[..<end]) else { return .response(status: 200, body: "") }
                received.removeFirst(end + 1)
            }
        }
        return isStream ? .response(status: 200, body: "") : response(received)
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
        return self.response(response)
    }

    private static func response(_ bytes: [UInt8]) -> Result? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let status = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        guard let gap = text.firstRange(of: "\r\n\r\n") else { return nil }
        return .response(status: status, body: String(text[gap.upperBound...]))
    }
}
