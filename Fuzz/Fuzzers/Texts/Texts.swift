internal import Time

@testable internal import Bytes
@testable internal import Configuration
@testable internal import HTTP
@testable internal import Proxy

/// Small texts of many kinds: addresses, URLs, paths, sizes, times, templates.
///
/// What is written is read again as the same.
enum Texts {
    static func run(_ input: Span<UInt8>) {
        let text = input.string
        addresses(text, input)
        urls(text)
        amounts(text)
        paths(input)
        templates(text)
    }

    private static func addresses(_ text: String, _ input: Span<UInt8>) {
        let socket = SocketAddress(literal: text, port: 80)
        let address: [UInt8]? =
            switch IPAddress(text) {
            case .v4(let bytes)?, .v6(let bytes)?: bytes
            case nil: nil
            }
        demandSame(socket.map { Array($0.ipAddress) }, address, "both readers of addresses agree on \(text)")
        if let socket {
            let written = String(socket.description.dropLast(3)).filter { $0 != "[" && $0 != "]" }
            demandSame(SocketAddress(literal: written, port: 80), socket, "an address there and back: \(written)")
        }
        if let any = SocketAddress(bytes: input) { demand(!any.description.isEmpty, "an address can be told") }
        guard let host = HostPort(text, defaultPort: 80) else { return }
        demandSame(HostPort(host.description), host, "a host there and back")
    }

    private static func urls(_ text: String) {
        if let url = try? UpstreamURL(text) {
            demandSame(try? UpstreamURL(url.description), url, "a URL there and back")
        }
        guard let call = try? CallURL(text) else { return }
        demand(call.path.hasPrefix("/") || call.path.hasPrefix("{"), "a path begins with a slash: \(call)")
        demand(!call.path.contains("?") && !call.path.contains("#"), "a path is only a path")
    }

    private static func amounts(_ text: String) {
        if let count = ByteCount(text: text) {
            demandSame(ByteCount(text: ByteCount.text(count.bytes)), count, "a size there and back")
        }
        if let time = Duration(text: text) {
            demand(time >= .zero, "a time is not negative")
            demandSame(Duration(text: time.text), time, "a time there and back")
        }
    }

    private static func paths(_ input: Span<UInt8>) {
        _ = HTTPHead.isAuthority(input)
        guard input.count > 0, input[0] == UInt8(ascii: "/") else { return }
        let head = HTTPHead()
        head.setTarget(input)
        head.normalizePath()
        let once = head.target.array
        head.normalizePath()
        demandSame(String(latin1: head.target.array), String(latin1: once), "a normal path stays as it is")
        guard HTTPHead.isPath(input) else { return }
        demand(HTTPHead.isPath(head.path), "a normal path is a path: \(String(latin1: once))")
        let segments = head.path.array.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let dots = segments.contains { $0 == Array(".".utf8)[...] || $0 == Array("..".utf8)[...] }
        demand(!dots, "a normal path has no dots: \(String(latin1: once))")
    }

    private static func templates(_ text: String) {
        _ = Template(text, at: .start, into: Diagnostics()).constant
        let diagnostics = Diagnostics()
        let scalars = text.unicodeScalars.flatMap { $0 == "{" || $0 == "}" ? [$0, $0] : [$0] }
        let escaped = String(String.UnicodeScalarView(scalars))
        let template = Template(escaped, at: .start, into: diagnostics)
        if diagnostics.isEmpty { demandSame(template.constant, Array(text.utf8), "escaped braces are braces") }
    }
}
