import Testing
import Time

@testable import Credentials

/// What a worker knows of a credential after each state that comes, and after each thing that it has asked.
@Suite struct CredentialViewTests {
    private let now = Instant.start + 1000 * .second

    private func state(
        _ value: String?,
        lifetime: Duration? = nil,
        deciding rejections: [CredentialRejection?] = []
    ) -> CredentialState {
        var state = CredentialState()
        if let value {
            let credential = Credential(value: Array(value.utf8), expiry: lifetime.map { .epoch + $0 })
            state = CredentialState(credential, at: now, .epoch)
        }
        state.decided = rejections.compactMap { $0 }
        return state
    }

    private func view(_ value: String) -> CredentialView {
        var view = CredentialView()
        view.update(state(value))
        return view
    }

    private let one = Array("one".utf8)

    @Test func `a rejection is pending until a state decides on it`() {
        var view = view("one")
        let rejection = view.reject(one, by: "a")
        #expect(rejection != nil)
        let again = view.reject(one, by: "a")
        #expect(again == nil)
        #expect(view.isRejected(by: "a"))
        #expect(!view.isRejected(by: "b"))
        // Sent before the main thread knew of it, or for another worker.
        view.update(state("one"))
        view.update(state("one", deciding: [CredentialRejection(by: "a")]))
        #expect(view.isRejected(by: "a"))
        view.update(state("one", deciding: [rejection]))
        #expect(!view.isRejected)
    }

    @Test func `each upstream's rejection is decided on by itself`() {
        var view = view("one")
        let rejections = ["a", "b"].map { view.reject(one, by: $0) }
        view.update(state("one", deciding: [rejections[1]]))
        #expect(view.isRejected(by: "a"))
        #expect(!view.isRejected(by: "b"))
        // The same value has come again, and is rejected again: that is another rejection.
        let second = view.reject(one, by: "b")
        view.update(state("one", deciding: rejections))
        #expect(view.isRejected(by: "b"))
        view.update(state("one", deciding: [second]))
        #expect(!view.isRejected)
    }

    @Test func `another value ends all rejections`() {
        for next in ["two", nil] {
            var view = view("one")
            _ = view.reject(one, by: "a")
            view.update(state(next))
            #expect(!view.isRejected)
            let late = view.reject(one, by: "a")
            #expect(late == nil)
        }
    }

    @Test func `a fetch is requested once until a state comes`() {
        var view = CredentialView()
        var requests = [view.request(), view.request()]
        view.update(state("one"))
        requests.append(view.request())
        view.update(state("one"))
        _ = view.reject(one, by: "a")
        requests.append(view.request())
        #expect(requests == [true, false, true, false])
    }

    @Test func `the last five values are known, and each has its version`() {
        var view = CredentialView()
        for number in 1...8 {
            for _ in 1...2 { view.update(state("\(number)")) }
            #expect(view.version == number)
        }
        let known = (1...8).filter { view.hasBeen(Array("\($0)".utf8)) }
        #expect(known == [4, 5, 6, 7, 8])
    }

    @Test func `a value is good until a little before its end`() {
        var view = CredentialView()
        #expect(view.goodUntil == .start)
        view.update(state("one", lifetime: 10 * .second))
        #expect(view.goodUntil == now + 9000 * .millisecond)
        view.update(state("one", lifetime: 100 * .second))
        #expect(view.goodUntil == now + 98_000 * .millisecond)
        view.update(state("one"))
        #expect(view.goodUntil == .max)
    }

    @Test func `after an error another value may come in time, or not`() {
        var view = CredentialView()
        var state = CredentialState()
        #expect(!view.cannotSucceed(at: now, within: .zero))
        state.error = CredentialError("down")
        state.retry = now + 10 * .second
        view.update(state)
        #expect(view.cannotSucceed(at: now, within: 9 * .second))
        #expect(!view.cannotSucceed(at: now, within: 10 * .second))
        state.error = CredentialError("go away", isRejection: true)
        view.update(state)
        #expect(view.cannotSucceed(at: now, within: 60 * .second))
        #expect(!view.cannotSucceed(at: now + 10 * .second, within: .zero))
    }
}
