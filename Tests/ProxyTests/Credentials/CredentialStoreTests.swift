import Events
import Testing
import Time

@testable import Credentials
@testable import Proxy

/// Which credentials a worker knows, from one configuration to the next.
@Suite struct CredentialStoreTests {
    private final class Stand {
        var requests: [CredentialRequest] = []
        private(set) var store: CredentialStore!
        let source = CredentialSource.exec(
            ExecSource(command: ["/bin/x"], environment: [:], response: .text, timeout: nil)
        )

        init() {
            store = CredentialStore(on: EventLoop(clock: .manual(ManualClock()))) { [unowned self] in
                requests.append($0)
            }
        }

        /// Says what there is whenever a fetch is requested, and nothing else; how often that was, up to `limit`.
        func respond(_ value: String, limit: Int) -> Int {
            var count = 0
            while let request = requests.first, count < limit {
                requests.removeFirst()
                guard case .fetch(let source) = request else { continue }
                count += 1
                store.update(source, CredentialState(Credential(value: Array(value.utf8)), at: .start, .epoch))
            }
            return count
        }
    }

    @Test func `what is known of a credential stays for one configuration that does not name it`() {
        let stand = Stand()
        stand.store.begin()
        let credential = stand.store.credential(named: stand.source)
        for _ in 1...3 {
            stand.store.begin()
            #expect(stand.store.credential(named: stand.source) === credential)
        }
        stand.store.begin()
        #expect(stand.store.credential(stand.source) === credential)
        stand.store.begin()
        #expect(stand.store.credential(stand.source) !== credential)
    }

    @Test func `a credential that calls alone need stays, and so does one that calls wait for`() {
        let stand = Stand()
        let credential = stand.store.credential(stand.source)
        for _ in 1...3 { stand.store.begin() }
        #expect(stand.store.credential(named: stand.source) === credential)
        let number = credential.wait {}
        for _ in 1...3 { stand.store.begin() }
        #expect(stand.store.credential(stand.source) === credential)
        credential.leave(number)
        stand.store.begin()
        #expect(stand.store.credential(stand.source) !== credential)
    }

    @Test func `a decision that is missed while a credential is in no configuration is not waited for`() {
        let stand = Stand()
        let credential = stand.store.credential(named: stand.source)
        credential.request()
        #expect(stand.respond("one", limit: 10) == 1)
        credential.rejected(Array("one".utf8), by: nil)
        for _ in 1...2 { stand.store.begin() }
        // A call that still goes by the first configuration.
        stand.store.adopt(credential)
        #expect(!credential.isRejected(by: nil))
        _ = credential.wait {}
        credential.request()
        #expect(stand.respond("one", limit: 10) == 1)
        #expect(credential.isGood(for: nil))
    }
}
