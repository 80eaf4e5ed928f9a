import Bytes
import Compressors
import RPC
import Testing

@testable import Proxy

/// The content codings of Martlet's own requests and their responses.
@Suite struct FetchCodingTests {
    private func packed(_ text: String, _ compression: Compression) -> [UInt8] {
        let queue = ByteQueue()
        Compressor().compress(Array(text.utf8).span, as: compression, into: queue)
        return queue.readable.array
    }

    private func response(_ codings: [String], _ body: [UInt8]) -> FetchedResponse {
        let codings = codings.map { FetchRequest.Field("content-encoding", Array($0.utf8)) }
        return FetchedResponse(status: 200, fields: codings + [FetchRequest.Field("x-a", [0x31])], body: body)
    }

    @Test(arguments: [
        ("gzip", Compression.gzip), ("GZIP", .gzip), ("x-gzip", .gzip), ("X-Gzip", .gzip), ("br", .br), ("Br", .br),
        ("zstd", .zstd), ("deflate", .deflate), ("Deflate", .deflate),
    ])
    func `a response is decoded whatever the case of its coding`(_ name: String, _ compression: Compression) throws {
        let decoded = try response([name], packed("hello", compression)).decoded(limit: 5)
        #expect(decoded.body == Array("hello".utf8))
        #expect(decoded.fields.map(\.name) == ["x-a"])
    }

    @Test(arguments: [[], ["identity"], ["Identity"], [""]])
    func `a response without a coding stays as it is`(_ codings: [String]) throws {
        let plain = response(codings, Array("hello".utf8))
        #expect(try plain.decoded(limit: 5) == plain)
    }

    @Test(arguments: ["gzip", "foo", "br"])
    func `a response without content has nothing to decode`(_ coding: String) throws {
        #expect(try response([coding], []).decoded(limit: 0).body == [])
    }

    @Test(arguments: [
        ["foo"], ["gzip, br"], ["gzip", "gzip"], ["snappy"], ["x-deflate"], ["compress"], ["aws-chunked"],
    ])
    func `an unknown coding is an error with words`(_ codings: [String]) {
        let error = #expect(throws: FetchError.self) { try response(codings, [1, 2, 3]).decoded(limit: 100) }
        let value = codings.joined(separator: ", ")
        let words =
            "the content encoding \"\(value)\" of the response is unknown; the server can use gzip, br, zstd, deflate"
        #expect(error?.text == words)
        #expect(error?.code == .internal)
    }

    @Test(arguments: ["gzip", "br", "zstd", "deflate"])
    func `a response that is not what it says is an error`(_ coding: String) {
        let error = #expect(throws: FetchError.self) { try response([coding], [1, 2, 3]).decoded(limit: 100) }
        #expect(error?.text == "the response cannot be decompressed")
    }

    @Test(arguments: [Compression.gzip, .br, .zstd, .deflate])
    func `a response that grows beyond the limit is an error`(_ compression: Compression) {
        let bomb = packed(String(repeating: "x", count: 1 << 20), compression)
        let coding = "\(compression)"
        let error = #expect(throws: FetchError.self) { try response([coding], bomb).decoded(limit: 1 << 16) }
        #expect(error?.text == "the response exceeds 65536 bytes when decompressed")
        #expect(error?.code == .resourceExhausted)
        #expect(throws: Never.self) { try response([coding], bomb).decoded(limit: 1 << 20) }
    }

    @Test(
        arguments: [
            ([], "gzip"), (["accept"], "gzip"), (["range"], "identity"), (["accept-encoding"], nil),
            (["range", "accept-encoding"], nil),
        ] as [([String], String?)]
    )
    func `a request says which codings it accepts`(_ names: [String], _ codings: String?) {
        let fields = names.map { FetchRequest.Field($0, []) }
        let request = FetchRequest(method: "GET", target: [], fields: fields)
        #expect(request.acceptedCodings?.description == codings)
    }
}
