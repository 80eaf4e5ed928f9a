import Testing

@testable import Sidecar

@Suite struct AdminListenerTests {
    @Test(arguments: [(0, nil), (1000, nil), (1000, 0), (998, 998)] as [(UInt32, UInt32?)])
    func `the daemon is of root, of this user or of the owner of the directory`(user: UInt32, owner: UInt32?) {
        #expect(AdminListener(user: user, ownUser: 1000, directoryOwner: owner).isTrusted)
    }

    @Test(arguments: [(1001, nil), (1001, 0), (1001, 998)] as [(UInt32, UInt32?)])
    func `a process of another user is not the daemon`(user: UInt32, owner: UInt32?) {
        #expect(!AdminListener(user: user, ownUser: 1000, directoryOwner: owner).isTrusted)
        #expect(!AdminListener(user: user, ownUser: 0, directoryOwner: owner).isTrusted)
    }
}
