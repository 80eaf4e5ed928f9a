import Bytes
import RPC
import Testing

private func percentEncoded(_ text: [UInt8]) -> String {
    let queue = ByteQueue()
    queue.append(percentEncoding: text.span)
    return queue.readable.string
}

@Test(arguments: [
    ("auth token fetch failed", "auth token fetch failed"), ("100% sure", "100%25 sure"),
    ("tab\tnewline\n", "tab%09newline%0A"), ("kullanıcı bulunamadı", "kullan%C4%B1c%C4%B1 bulunamad%C4%B1"),
    ("ไม่พบผู้ใช้", "%E0%B9%84%E0%B8%A1%E0%B9%88%E0%B8%9E%E0%B8%9A%E0%B8%9C%E0%B8%B9%E0%B9%89%E0%B9%83%E0%B8%8A%E0%B9%89"),
    ("~ ok", "~ ok"), ("☃ snowman", "%E2%98%83 snowman"), ("", ""),
    (" a b ", "%20a b%20"), (" ", "%20"),
])
func `a message is percent-encoded and decoded`(raw: String, encoded: String) {
    #expect(percentEncoded(raw.bytes) == encoded)
    #expect(PercentEncoding.decode(encoded.bytes.span).text == raw)
}

@Test(arguments: ["%", "%4", "%zz", "abc%", "%%", "%4%41"])
func `a broken escape stands for itself`(text: String) {
    #expect(PercentEncoding.decode(text.bytes.span).text == (text == "%4%41" ? "%4A" : text))
}

@Test func `escapes may be in small letters`() {
    #expect(PercentEncoding.decode("%e2%98%83".bytes.span).text == "☃")
}

@Test func `any bytes survive percent-encoding`() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<500 {
        let bytes = generator.bytes(upTo: 64)
        #expect(PercentEncoding.decode(percentEncoded(bytes).bytes.span) == bytes)
    }
}

@Test(arguments: [
    ("", "", ""), ("f", "Zg", "Zg=="), ("fo", "Zm8", "Zm8="), ("foo", "Zm9v", "Zm9v"),
    ("foobar", "Zm9vYmFy", "Zm9vYmFy"),
])
func `base64 is written bare or padded and read either way`(raw: String, bare: String, padded: String) {
    let queue = ByteQueue()
    queue.append(base64: raw.bytes.span)
    #expect(queue.readable.string == bare)
    #expect(raw.bytes.base64 == padded)
    #expect(Base64.decode(bare.bytes.span) == raw.bytes)
    #expect(Base64.decode(padded.bytes.span) == raw.bytes)
}

@Test func `both alphabets of base64 are written and read`() {
    let bytes: [UInt8] = [0xfb, 0xef, 0xff]
    let queue = ByteQueue()
    queue.append(base64: bytes.span)
    queue.append(base64: bytes.span, .urlSafe)
    #expect(queue.readable.string == "++//--__")
    #expect(Base64.decode("++//".bytes.span) == bytes)
    #expect(Base64.decode("--__".bytes.span) == bytes)
}

@Test(arguments: ["Z", "Zg=", "Zg===", "=", "Zm9vZ", "Zm 9v", "Zg==Zg==", "Z=g=", "Zm9v=", "é"])
func `what is not base64 is rejected`(text: String) {
    #expect(Base64.decode(text.bytes.span) == nil)
}

@Test func `any bytes survive base64`() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<500 {
        let bytes = generator.bytes(upTo: 64)
        let queue = ByteQueue()
        queue.append(base64: bytes.span, .urlSafe)
        #expect(Base64.decode(queue.readable) == bytes)
        #expect(Base64.decode(bytes.base64.bytes.span) == bytes)
    }
}

@Test func `an error is a google.rpc.Status`() {
    var error = Vectors.error
    error.details = [Vectors.retryInfo]
    let queue = ByteQueue()
    queue.append(base64: error.status.span)
    #expect(
        queue.readable.string
            == "CAISF2F1dGggdG9rZW4gZmV0Y2ggZmFpbGVkGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SBAoCCDw"
    )
}

@Test func `a long message in a google.rpc.Status has a length of several bytes`() {
    let status = RPCError(.internal, String(repeating: "x", count: 300)).status
    #expect(Array(status[..<5]) == [0x08, 13, 0x12, 0xac, 0x02])
    #expect(status.count == 305)
}
