import Bytes
import Protocols
import RPC
import Testing

/// Names and lists of compressions, as all protocols have them.
@Suite struct CompressionNameTests {
    @Test(arguments: [
        ("gzip", Compression.gzip), ("GZIP", .gzip), ("GZip", .gzip), ("x-gzip", .gzip), ("X-GZIP", .gzip), ("br", .br),
        ("BR", .br), ("zstd", .zstd), ("ZsTd", .zstd), ("deflate", .deflate), ("DEFLATE", .deflate),
        ("snappy", .snappy), ("Snappy", .snappy), ("identity", .identity), ("IDENTITY", .identity), ("", .identity),
        ("x-deflate", .unknown), ("x-br", .unknown), ("gzip2", .unknown), ("lzma", .unknown), ("x-gzi", .unknown),
        ("gzip, br", .unknown), ("xgzip", .unknown), ("g\u{17A}ip", .unknown),
    ])
    func `a name means one compression in any case`(_ name: String, _ compression: Compression) {
        #expect(Compression(name: name.bytes.span) == compression)
    }

    @Test(arguments: [
        (["gzip"], "gzip"), (["GZIP, x-gzip"], "gzip,gzip"), (["gzip;q=0.5, br;q=0"], "gzip"),
        (["br;q=0.0, BR;q=1"], "br"), (["*"], ""), (["*;q=0, gzip"], "gzip"), ([" , gzip ,, zstd\t"], "gzip,zstd"),
        (["gzip ; q=0"], ""), (["gzip;Q=0.000"], ""), (["gzip;level=0"], "gzip"), (["gzip;level=0;q=1"], "gzip"),
        (["gzip;level=9; q = 0"], ""), (["Lzma"], "Lzma"), (["gzip", "Identity"], "gzip,identity"),
        (["gzip;q="], "gzip"),
        (["gzip;q=0.001"], "gzip"), ([""], ""), ([";q=1"], ""), (["X-GZIP;q=0.1,snappy"], "gzip,snappy"),
    ])
    func `a list for another protocol has plain names in small letters`(_ fields: [String], _ list: String) {
        let queue = ByteQueue()
        for field in fields { queue.append(compressions: field.bytes.span) }
        #expect(queue.readable.string == list)
    }

    @Test(arguments: [
        ([], "identity", true), ([], "gzip", false), ([], "", true), (["gzip"], "gzip", true), (["gzip"], "GZIP", true),
        (["x-gzip"], "gzip", true), (["GZIP"], "x-gzip", true), (["gzip"], "br", false), (["gzip, br"], "br", true),
        (["gzip", "br"], "br", true), (["*"], "zstd", true), (["*"], "lzma", true), (["*;q=0"], "gzip", false),
        (["gzip;q=0"], "gzip", false), (["gzip;q=0, *"], "gzip", false), (["gzip;q=0, *"], "br", true),
        (["*, br;q=0"], "br", false), (["gzip, *;q=0"], "gzip", true), (["gzip;q=0.001"], "gzip", true),
        (["Foo"], "fOO", true), (["foo"], "bar", false), (["foo;q=0"], "foo", false), ([""], "gzip", false),
        (["identity;q=0"], "identity", true), (["a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,foo"], "foo", true),
        (["a,b,c,d,e,f,g,h", "i,j,k,l,m,n,o,p,foo,gzip"], "foo", false),
        (["a,b,c,d,e,f,g,h", "i,j,k,l,m,n,o,p,foo,gzip"], "gzip", true),
    ])
    func `a list has a compression in any spelling`(_ fields: [String], _ name: String, _ isListed: Bool) {
        var list = ListedCompressions()
        for field in fields { list.add(field: field.bytes.span) }
        #expect(list.contains(name.bytes.span) == isListed)
    }
}
