import Bytes
import Protocols
import RPC
import Testing

private func message(_ query: String) throws -> [UInt8] {
    let read = ConnectQuery(query.bytes.span)
    return try #require(read).message(in: query.bytes.span)
}

private func error(_ query: String) -> String? {
    #expect(throws: RPCError.self) { try message(query) }?.message
}

@Test(arguments: [
    ("connect=v1&encoding=json&message=%7B%22sentence%22%3A%22hello%21%22%7D", #"{"sentence":"hello!"}"#),
    ("connect=v1&encoding=json&message=%22a+b%2Bc%252%22", #""a b+c%2""#),
    ("connect=v1&base64=1&message=aGk_aGk-", "hi?hi>"), ("connect=v1&base64=1&message=aGk/aGk%2B", "hi?hi>"),
    ("connect=v1&base64=1&message=aGk%2FaGk%2b", "hi?hi>"), ("message=Zm8=&base64=1&connect=v1", "fo"),
    ("connect=v1&base64=1&message=Zm8%3D", "fo"), ("connect=v1&base64=1&message=Zm8", "fo"),
    ("connect=v1&base64=1&message=", ""), ("connect=v1", ""), ("connect=v1&base64=1", ""),
    ("c%6fnnect=%761&b%61se64=%31&m%65ssage=Zm8", "fo"), ("connect=v1&base64=1+&message=Zm8", "Zm8"),
    ("connect=v1&m+essage=a&Message=b&message", ""),
])
func `the message of a Connect GET is read`(query: String, expected: String) throws {
    #expect(try message(query).text == expected)
}

@Test(arguments: ["Zm8%25", "Z", "Zm=8", "%7B%7D", "Zm9v++++YmFy"])
func `a message of a Connect GET that should be base64 and is not is rejected`(text: String) throws {
    #expect(error("connect=v1&base64=1&message=\(text)") == "the message in the query is not valid base64")
}

/// Some readers pass over such a parameter, and see no message at all.
@Test(arguments: ["%", "a%4", "%zz", "a;b", "Zm9v;"])
func `a message of a Connect GET that is no value of a form is rejected`(text: String) {
    #expect(error("connect=v1&message=\(text)") == "the message in the query contains a semicolon or an invalid escape")
}

/// Some readers take the first, others the last; what is not what we saw could pass us.
@Test(arguments: [
    "connect=v1&message=first&message=second", "connect=v1&message=a&m%65ssage=b", "connect=v1&base64=0&base64=1",
    "connect=v1&connect=v2", "connect=v1&encoding=json&encoding=json", "connect=v1&compression&compression=gzip",
])
func `a Connect GET of which readers could think differently has no message`(query: String) {
    #expect(error(query) == "a query parameter of the protocol occurs twice")
}

@Test(arguments: [
    ("connect=v1&message=%7A%41z+", 4), ("connect=v1&message=%25", 1), ("base64=1&message=Zg%3D%3d&connect=v1", 1),
])
func `a message is as long as what is read of it`(query: String, size: Int) throws {
    #expect(ConnectQuery(query.bytes.span)?.messageSize == size)
    #expect(try message(query).count == size)
}

@Test func `names of codecs and compressions may have escapes`() {
    let read = ConnectQuery("connect=v1&encoding=%6ason&compression=g%7Aip".bytes.span)
    #expect(read?.codec == .json)
    #expect(read?.compression == .gzip)
}

private func written(_ query: String, _ message: String, _ compression: Compression = .identity) -> String {
    let queue = ByteQueue()
    queue.append(connectQuery: query.bytes.span, message: message.bytes.span, compression: compression)
    return queue.readable.string
}

@Test func `a Connect GET is written with another message`() {
    let plain = "connect=v1&encoding=json&message=%7B%7D"
    #expect(written(plain, "hi?hi>") == "connect=v1&base64=1&encoding=json&message=aGk_aGk-")
    #expect(written(plain, "f") == "connect=v1&base64=1&encoding=json&message=Zg")
    #expect(written(plain, "") == "connect=v1&base64=1&encoding=json&message=")
    #expect(
        written(plain, "fo", .gzip) == "connect=v1&base64=1&compression=gzip&encoding=json&message=Zm8"
    )
}

@Test func `what a Connect GET says of compression goes with its message`() {
    let zipped = "connect=v1&base64=1&compression=zstd&encoding=proto&message=AAAA"
    #expect(written(zipped, "foo") == "connect=v1&base64=1&encoding=proto&message=Zm9v")
}

@Test func `a Connect GET keeps its codec and what the protocol does not know`() {
    #expect(
        written("x=%20y&message=a&&z&encoding=acme%2Bv2&base64=0&connect=v1&messages=3", "foo")
            == "connect=v1&base64=1&encoding=acme%2Bv2&message=Zm9v&x=%20y&z&messages=3"
    )
}

@Test func `any message survives a Connect GET`() throws {
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<200 {
        let bytes = generator.bytes(upTo: 40)
        let queue = ByteQueue()
        queue.append(connectQuery: "connect=v1&encoding=proto".bytes.span, message: bytes.span, compression: .br)
        #expect(try message(queue.readable.string) == bytes)
    }
}
