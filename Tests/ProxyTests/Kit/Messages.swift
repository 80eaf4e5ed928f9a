/// An HTTP message: the lines of its head, and its body.
func http(_ lines: String..., body: String = "") -> String {
    lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}

/// A call in Connect unary JSON.
let say = http(
    "POST /pkg.Service/Say HTTP/1.1",
    "host: app",
    "content-type: application/json",
    "content-length: 2",
    body: "{}"
)

/// The same as it reaches the upstream at 127.0.0.1:9000.
let saidUpstream = http(
    "POST /pkg.Service/Say HTTP/1.1",
    "host: 127.0.0.1:9000",
    "content-type: application/json",
    "content-length: 2",
    body: "{}"
)

/// A call without a body.
let get = http("GET /pkg.Service/Look HTTP/1.1", "host: app")

/// The same as it reaches the upstream at 127.0.0.1:9000.
let gotUpstream = http("GET /pkg.Service/Look HTTP/1.1", "host: 127.0.0.1:9000")

/// A good response.
let fine = http("HTTP/1.1 200 OK", "content-type: application/json", "content-length: 2", body: "{}")

/// A configuration that forwards everything to 127.0.0.1:9000.
let plain = """
    listen: 127.0.0.1:8080
    upstream: http://127.0.0.1:9000
    """

/// The bytes that hexadecimal text stands for.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0..<($0 + 2)]), radix: 16)! }
}
