import Bytes
import RPC
import Testing

private func details(_ status: [UInt8], padded: Bool = false) -> [ErrorDetail]? {
    let queue = ByteQueue()
    queue.append(base64: status.span, padded: padded)
    return ErrorDetail.details(grpcStatusDetails: queue.readable)
}

@Test(arguments: [true, false])
func `the details of a gRPC error are read as they were written`(padded: Bool) {
    var error = Vectors.error
    error.details = [Vectors.retryInfo, ErrorDetail(type: "acme.Empty", value: []), Vectors.retryInfo]
    #expect(details(error.status, padded: padded) == error.details)
    #expect(details(Vectors.error.status) == [])
    #expect(details([]) == [])
}

@Test(arguments: ["acme.Cost", "type.googleapis.com/acme.Cost", "https://example.com/types/acme.Cost"])
func `a detail is named by its type alone`(url: String) {
    let any = [0x0a, UInt8(url.utf8.count)] + url.bytes
    #expect(details([0x1a, UInt8(any.count)] + any) == [ErrorDetail(type: "acme.Cost", value: [])])
}

@Test func `unknown fields of an error are passed over`() {
    let any = "0a016d20051207120568656c6c6f".unhexed
    #expect(
        details("08024a01780d01020304".unhexed + [0x1a, 14] + any + "11010203040506070818ff01".unhexed)
            == [ErrorDetail(type: "m", value: "120568656c6c6f".unhexed)]
    )
}

@Test(arguments: [
    "08", "1a", "1a05", "1a020a05", "1affffffffffffffffff01", "0affffffff0f00", "0d0000", "09", "00", "0b", "0f",
    "08ffffffffffffffffffffff01",
])
func `a broken status has no details`(status: String) {
    #expect(details(status.unhexed) == nil)
}

@Test(arguments: ["!", "CAI=CAI=", "C"])
func `details that are not base64 are none`(field: String) {
    #expect(ErrorDetail.details(grpcStatusDetails: field.bytes.span) == nil)
}

@Test func `no bytes can crash the reading of details`() {
    var generator = SeededGenerator(seed: 3)
    var error = Vectors.error
    error.details = [Vectors.retryInfo, Vectors.retryInfo]
    var found = 0
    for _ in 0..<20_000 {
        if details(generator.bytes(upTo: 40)) != nil { found += 1 }
        var status = error.status
        for _ in 0..<3 {
            status[Int.random(in: 0..<status.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        if details(status)?.isEmpty == false { found += 1 }
    }
    #expect(found > 100)
}
