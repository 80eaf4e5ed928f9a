import Bytes
import HTTP
import Testing
import Time

@testable import Caching

/// The directives of a head.
@Suite struct CacheControlTests {
    private func control(_ values: String...) -> CacheControl {
        CacheControl(head(values.map { ("cache-control", $0) }))
    }

    @Test func `names have any case, and values may have quotes`() {
        let read = control("Max-Age=60, S-MAXAGE=\"30\"", "no-cache=\"a, b\", Public")
        #expect(read.maxAge == 60 * .second)
        #expect(read.sharedMaxAge == 30 * .second)
        #expect(read.flags == [.noCache, .isPublic])
    }

    @Test(arguments: [
        ("max-age=60, max-age=5", 60), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=", 0), ("max-age", 0),
        ("max-age='60'", 0), ("max-age=99999999999999999999", 1 << 31), ("max-age=007", 7),
        ("foo=\"max-age=1\", max-age=9", 9), (" , ,max-age=3", 3),
    ])
    func `of two the first counts, and what is malformed is zero`(_ value: String, _ seconds: Int) {
        #expect(control(value).maxAge == .seconds(seconds))
    }

    @Test func `max-stale without a value allows everything`() {
        #expect(control("max-stale").maxStale == .max)
        #expect(control("max-stale=7").maxStale == 7 * .second)
    }

    @Test func `what is for caches in front of the server counts alone`() {
        let both = head([("cache-control", "no-store"), ("cdn-cache-control", "max-age=60")])
        #expect(CacheControl(both).maxAge == 60 * .second)
        #expect(CacheControl(both).flags.isEmpty)
        for value in ["max-age=60, &&&&&", "max-age=\"60\"", "Max-Age=60", "max-age=60, a="] {
            let malformed = head([("cache-control", "no-store"), ("cdn-cache-control", value)])
            #expect(CacheControl(malformed).flags == .noStore)
        }
        let empty = head([("cache-control", "max-age=5"), ("cdn-cache-control", "")])
        #expect(CacheControl(empty).maxAge == 5 * .second)
    }
}

/// A head with these fields.
func head(_ fields: [(String, String)], status: Int = 200, length: Int? = nil) -> HTTPHead {
    let head = HTTPHead()
    head.status = status
    head.setMethod(Array("GET".utf8).span)
    head.setTarget(Array("/".utf8).span)
    for (name, value) in fields { head.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
    return head
}
