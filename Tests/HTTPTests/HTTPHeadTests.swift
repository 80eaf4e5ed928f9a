import Bytes
import HTTP
import Testing

/// The head as an ordered multimap.
@Suite struct HTTPHeadTests {
    private func fields(_ head: HTTPHead) -> [String] {
        (0..<head.count).map { "\(head.name(at: $0).string)=\(head.value(at: $0).string)" }
    }

    @Test func `fields keep their order and repeat`() {
        let head = Message.trailers(["A": "1", "b": "2", "a": "3"])
        head.add(name: "Content-TYPE".bytes.span, value: "x".bytes.span)
        #expect(fields(head) == ["a=1", "b=2", "a=3", "content-type=x"])
        #expect(head.known(at: 3) == .contentType)
        #expect(head.first(.contentType) == 3)
        #expect(head.first(FieldName("a"), from: 1) == 2)
        #expect(head.first(FieldName("c")) == nil)
    }

    @Test func `set replaces the first and drops the others`() {
        let head = Message.trailers(["a": "1", "b": "2", "a": "3", "a": "4", "c": "5"])
        head.set(FieldName("a"), "new".bytes.span)
        head.set(FieldName("d"), "6".bytes.span)
        #expect(fields(head) == ["a=new", "b=2", "c=5", "d=6"])
    }

    @Test func `remove drops all of a name`() {
        let head = Message.trailers(["a": "1", "b": "2", "a": "3"])
        #expect(head.remove(FieldName("a")))
        #expect(!head.remove(FieldName("a")))
        #expect(fields(head) == ["b=2"])
    }

    @Test func `rename makes a field known by its new name`() {
        let head = Message.trailers(["x": "1"])
        head.rename(at: 0, to: FieldName("TE"))
        #expect(fields(head) == ["te=1"])
        #expect(head.known(at: 0) == .te)
    }

    @Test func `a value may be set from the same head`() {
        let head = Message.trailers(["a": String(repeating: "x", count: 700), "b": "2"])
        for _ in 0..<3 { head.set(FieldName("b"), head.value(at: 0)) }
        let isSame = head.value(at: 1).equals(head.value(at: 0))
        #expect(isSame)
    }

    @Test(arguments: [("/a/b?c=d?e", "/a/b", "c=d?e"), ("/a", "/a", ""), ("/a?", "/a", ""), ("*", "*", "")])
    func `the target is path and query`(target: String, path: String, query: String) {
        let head = Message.request("GET", target)
        #expect(head.path.string == path)
        #expect(head.query.string == query)
    }

    @Test func `a copy is whole and its own`() {
        let head = Message.request("POST", "/x", ["a": "1"], length: 5)
        head.expectsContinue = true
        let copy = HTTPHead()
        copy.setMethod("OLD".bytes.span)
        copy.copy(head)
        head.removeAll()
        #expect(copy.method.string == "POST" && copy.target.string == "/x" && copy.authority.string == "a")
        #expect(fields(copy) == ["a=1"])
        #expect(copy.contentLength == 5 && copy.expectsContinue)
        #expect(head.count == 0 && head.method.count == 0 && head.contentLength == nil && !head.expectsContinue)
    }

    @Test func `a target may be made of the head itself, however full that is`() {
        for padding in 0..<2100 {
            let head = Message.request("GET", "/path?query", ["x": String(repeating: "a", count: padding)])
            head.setTarget(head.path)
            #expect(head.path.string == "/path" && head.target.string == "/path" && head.query.count == 0)
        }
    }

    @Test func `a pool gives heads back empty`() {
        let pool = HTTPHeadPool()
        let head = pool.acquire()
        head.add(FieldName("a"), "1".bytes.span)
        head.status = 200
        pool.release(head)
        let again = pool.acquire()
        #expect(again === head)
        #expect(again.count == 0 && again.status == 0)
    }

    @Test(arguments: [
        ("x-ok", true), ("X", true), ("", false), ("a b", false), ("a:", false), (":path", false), ("caf\u{e9}", false),
        ("a\r\nb", false),
    ])
    func `a field name is a token`(name: String, isValid: Bool) {
        #expect(FieldName.isValid(name) == isValid)
    }
}
