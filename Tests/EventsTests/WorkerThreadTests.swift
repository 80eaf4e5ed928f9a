import Glibc
import Testing
import Time

@testable import Events

@Suite struct WorkerThreadTests {
    @Test func `a worker runs its function to the end on a thread of its own`() {
        let starter = pthread_self()
        let isElsewhere = Locked(false)
        let thread = WorkerThread(name: "worker") {
            isElsewhere.withLock { $0 = pthread_equal(pthread_self(), starter) == 0 }
        }
        #expect(thread.join(within: 10 * .second))
        #expect(isElsewhere.withLock { $0 })
    }

    @Test func `a worker has its name, and leaves all signals to the main thread`() {
        let name = Locked("")
        let blocked = Locked(false)
        let thread = WorkerThread(name: "martlet-7") {
            name.withLock { $0 = contents(of: "/proc/thread-self/comm") }
            var set = sigset_t()
            unsafe pthread_sigmask(SIG_SETMASK, nil, &set)
            let isBlocked = unsafe sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGHUP) == 1
            blocked.withLock { $0 = isBlocked }
        }
        #expect(thread.join(within: 10 * .second))
        #expect(name.withLock { $0 } == "martlet-7\n")
        #expect(blocked.withLock { $0 })
    }

    @Test func `a lock keeps threads apart`() {
        let count = Locked(0)
        let threads = (0..<4).map { _ in
            WorkerThread(name: "adder") {
                for _ in 0..<10_000 { count.withLock { $0 += 1 } }
            }
        }
        for thread in threads { #expect(thread.join(within: 10 * .second)) }
        #expect(count.withLock { $0 } == 40_000)
    }
}

/// The text of a short file.
private func contents(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
