internal import Bytes
internal import Configuration
private import Glibc
internal import Proxy

/// The commands that speak to the admin socket of a running Martlet.
enum AdminCommand: Equatable {
    case reload, status
    /// Asks whether it lives, or whether it is ready for calls.
    case healthcheck(ready: Bool)

    /// The command of this name; nil if it is none of these.
    init?(_ word: String, ready: Bool) {
        switch word {
        case "reload": self = .reload
        case "status": self = .status
        case "healthcheck": self = .healthcheck(ready: ready)
        default: return nil
        }
    }

    /// Asks, prints what is answered, and leaves with 0 if it is a success.
    func run(file: String?, address: String?) -> Exit {
        let targets = Self.targets(file: file, named: address)
        guard !targets.isEmpty else { return address == nil ? .configuration : .usage }
        let (method, path) =
            switch self {
            case .reload: ("POST", "/reload")
            case .status: ("GET", "/status")
            case .healthcheck(let ready): ("GET", ready ? "/readyz" : "/healthz")
            }
        guard let answer = Self.exchange(method, path, withFirstOf: targets) else {
            Terminal.complain("martlet: nobody answers at \(targets.map(\.description).joined(separator: " or "))")
            return .failure
        }
        let text = answer.body.hasSuffix("\n") ? String(answer.body.dropLast()) : answer.body
        guard answer.status == 200 else {
            Terminal.complain(text)
            return .failure
        }
        Terminal.print(text)
        return .success
    }

    /// Where to ask, in this order; empty if that is not known, which is told.
    private static func targets(file: String?, named: String?) -> [SocketAddress] {
        (named.map { [$0] } ?? addressTexts(in: .find(file, .builtIn))).compactMap { text in
            let address = Self.address(text)
            if address == nil {
                Terminal.complain("martlet: \(text) is not an admin address; write 127.0.0.1:9901 or unix:/path")
            }
            return address
        }
    }

    private static func addressTexts(in file: ConfigurationFile) -> [String] {
        do throws(ConfigurationFile.Refusal) {
            let admins = try file.admins()
            guard admins.isEmpty else { return admins.map { "\($0.address)" } }
            let places = AdminSettings.usualPlaces(for: file).map { "\($0.address)" }.joined(separator: " or ")
            Terminal.complain(
                "martlet: \(file.name) names no admin socket, and there is none at \(places); add --admin ADDRESS"
            )
        } catch {
            error.lines.forEach(Terminal.complain)
        }
        return []
    }

    private static func address(_ text: String) -> SocketAddress? {
        switch ListenAddress(text) {
        case .unix(let path): SocketAddress.unix(path: path)
        case .tcp(let host, let port):
            SocketAddress(literal: host == "localhost" ? "127.0.0.1" : host, port: port)
        case .abstract, .systemd, nil: nil
        }
    }

    /// The answer of the first that answers; nil if none does.
    ///
    /// Each is asked at most once: a second request would reload again.
    private static func exchange(_ method: String, _ path: String, withFirstOf targets: [SocketAddress]) -> (
        status: Int, body: String
    )? {
        for target in targets {
            if let answer = exchange(method, path, with: target) { return answer }
        }
        return nil
    }

    /// One request and its answer, with ten seconds for each step.
    private static func exchange(_ method: String, _ path: String, with address: SocketAddress) -> (
        status: Int, body: String
    )? {
        let descriptor = socket(
            Int32(address.family.rawValue),
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        let connected = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe connect(
                descriptor,
                bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        guard connected == 0 else { return nil }
        let request = Array(
            "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".utf8
        )
        // Whoever refuses a connection answers without having read, so a request that cannot be sent may have an answer.
        _ = unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while answer.count < 1 << 20 {
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            answer += piece[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        guard let status = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        guard let gap = text.firstRange(of: "\r\n\r\n") else { return nil }
        return (status, String(text[gap.upperBound...]))
    }
}
