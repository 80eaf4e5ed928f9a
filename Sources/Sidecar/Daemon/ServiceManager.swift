internal import Events
private import Glibc
internal import Time

/// Tells systemd what the daemon does, over `$NOTIFY_SOCKET` (sd_notify(3)).
///
/// Without the variable all of it does nothing.
final class ServiceManager {
    private let socket: NotifySocket?
    private let loop: EventLoop
    private var watchdog: Timer?
    /// Half the time within which systemd expects a sign of life (`WatchdogSec=`); none if it expects none.
    private(set) var watchdogHalf: Duration?
    /// Whether this is the main process of the service: systemd listens to no other.
    var isMain: Bool
    /// Whether the daemon is healthy: systemd gets a sign of life only while it is.
    var isHealthy: () -> Bool = { true }

    /// Whether a service manager started the daemon and is told what it does.
    var isThere: Bool { socket != nil }

    /// How many sockets it holds: as `$FDSTORE` says from systemd 254 on if it holds any, or else as the shipped unit has it.
    let storeLimit: Int

    /// Takes the variables from the environment, so that no child sees them.
    init(loop: EventLoop, isMain: Bool) {
        (self.loop, self.isMain) = (loop, isMain)
        socket = Environment.value("NOTIFY_SOCKET").flatMap { NotifySocket(to: $0, loop: loop) }
        storeLimit = Environment.value("FDSTORE").flatMap { Int($0) } ?? 64
        startWatchdog()
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsafe unsetenv(name) }
    }

    /// The daemon serves.
    func ready(_ status: String) {
        send("READY=1\nSTATUS=\(status)\nMAINPID=\(getpid())")
    }

    /// Another process is the main one of the service from now on, and this one has nothing to say.
    func handOver(to process: Int32) {
        send("READY=1\nSTATUS=upgraded\nMAINPID=\(process)")
        isMain = false
    }

    /// The daemon cannot serve yet, and retries after `pause`.
    func waiting(_ status: String, for pause: Duration) {
        send("STATUS=\(status)\nEXTEND_TIMEOUT_USEC=\((pause + 30 * .second).microseconds)")
    }

    /// A reload has begun; `ready` must follow, however it ends.
    func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Clock.awake.microseconds)\nSTATUS=reloading")
    }

    /// The daemon drains, for at most `limit`.
    func stopping(within limit: Duration?) {
        let extension_ = limit.map { "\nEXTEND_TIMEOUT_USEC=\(($0 + 5 * .second).microseconds)" } ?? ""
        send("STOPPING=1\nSTATUS=draining\(extension_)")
    }

    /// Has the manager hold a listening socket, also when this process has ended, and give it to the next one.
    ///
    /// Afterwards the socket counts as held. A unit without `FileDescriptorStoreMax=` does not hold it, and does not say so.
    func store(_ listener: ListenSocket) {
        guard let socket, isMain else { return }
        socket.send("FDSTORE=1\nFDNAME=\(listener.storeName)\nFDPOLL=0", with: listener)
        listener.hold()
    }

    /// Has the manager close what it holds under a name.
    func remove(_ name: String) {
        send("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    private func startWatchdog() {
        guard let text = Environment.value("WATCHDOG_USEC"), let interval = Int(text), interval > 0 else { return }
        if let process = Environment.value("WATCHDOG_PID"), process != "\(getpid())" { return }
        let half = Duration.microseconds(min(interval, .max / 1000)) / 2
        watchdogHalf = half
        let timer = Timer(on: loop.timers) { [unowned self] in
            if isHealthy(), socket?.isBehind == false { send("WATCHDOG=1") }
            watchdog?.arm(after: half / 2)
        }
        watchdog = timer
        timer.arm(after: half / 2)
    }

    private func send(_ text: String) {
        if isMain { socket?.send(text) }
    }
}
