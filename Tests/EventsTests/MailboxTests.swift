import Events
import Testing
import Time

@Suite struct MailboxTests {
    @Test func `letters of another thread are opened on the loop, in order`() {
        let loop = EventLoop()
        let mailbox = Mailbox<EventLoop>()
        let opener = MailOpener(mailbox, loop)
        let opened = Locked<[Int]>([])
        let thread = WorkerThread(name: "sender") {
            for number in 0..<1000 {
                mailbox.post { _ in opened.withLock { $0.append(number) } }
            }
            mailbox.post { $0.stop() }
        }
        loop.run()
        #expect(thread.join(within: 10 * .second))
        #expect(opened.withLock { $0 } == Array(0..<1000))
        #expect(opener.count >= 1)
    }

    @Test func `letters of many threads all arrive`() {
        let loop = EventLoop()
        let mailbox = Mailbox<EventLoop>()
        let opener = MailOpener(mailbox, loop)
        let opened = Locked(0)
        let threads = (0..<4).map { _ in
            WorkerThread(name: "sender") {
                for _ in 0..<250 {
                    mailbox.post { loop in
                        let count = opened.withLock { count in
                            count += 1
                            return count
                        }
                        if count == 1000 { loop.stop() }
                    }
                }
            }
        }
        loop.run()
        for thread in threads { #expect(thread.join(within: 10 * .second)) }
        #expect(opened.withLock { $0 } == 1000)
        #expect(opener.count >= 1)
    }

    @Test func `a letter that posts a letter does not hold the loop`() {
        let loop = EventLoop()
        let mailbox = Mailbox<EventLoop>()
        let opener = MailOpener(mailbox, loop)
        let opened = Locked<[String]>([])
        mailbox.post { _ in
            opened.withLock { $0.append("first") }
            mailbox.post { _ in opened.withLock { $0.append("second") } }
        }
        loop.turn()
        #expect(opened.withLock { $0 } == ["first"])
        loop.turn()
        #expect(opened.withLock { $0 } == ["first", "second"])
        #expect(opener.count == 2)
    }

    @Test func `letters that take long wait for the next turn, in their order`() {
        let hand = ManualClock()
        let loop = EventLoop(clock: .manual(hand))
        let mailbox = Mailbox<ManualClock>()
        let slot = MailSlot(mailbox, for: hand, on: loop)
        let opened = Locked<[Int]>([])
        for number in 0..<4 {
            mailbox.post { hand in
                opened.withLock { $0.append(number) }
                hand.now += 600 * Duration.millisecond / 1000
            }
        }
        var turns: [[Int]] = []
        withExtendedLifetime(slot) {
            for _ in 0..<4 {
                loop.turn(waiting: false)
                turns.append(opened.withLock { $0 })
                if turns.count == 1 { mailbox.post { _ in opened.withLock { $0.append(4) } } }
            }
        }
        #expect(turns == [[0, 1], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]])
    }
}
