import Testing

@testable import Proxy

struct BodyShareTests {
    @Test(arguments: [(0, 10, 0), (1, 3, 333), (2, 3, 666), (3, 3, 1000), (4, 3, 1000), (0, 0, 1000)])
    func `a share is cut to thousandths`(passed: Int, length: Int, share: Int) {
        #expect(BodyShare(passed, of: length).thousandths == share)
    }

    @Test func `only all of a body is all of it`() {
        #expect(BodyShare((1 << 40) - 1, of: 1 << 40).thousandths == 999)
        #expect(BodyShare(.max - 1, of: .max).thousandths == 999)
        #expect(BodyShare(.max, of: .max).thousandths == 1000)
    }

    @Test func `a share never falls`() {
        let shares = (0...5000).map { BodyShare($0, of: 5000).thousandths }
        #expect(shares == shares.sorted() && shares.last == 1000 && shares[4999] == 999)
    }
}
