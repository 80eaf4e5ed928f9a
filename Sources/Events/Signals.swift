private import CLibevent
private import Glibc

/// Signals, told on the loop of the main thread.
@safe
public final class Signals {
    private let loop: EventLoop
    private var events: [OpaquePointer] = unsafe []
    private let action: (Int32) -> Void

    /// Does `action` for each of `numbers` that arrives.
    ///
    /// SIGPIPE is ignored from now on.
    public init(_ numbers: [Int32], on loop: EventLoop, action: @escaping (Int32) -> Void) {
        self.loop = loop
        self.action = action
        signal(SIGPIPE, SIG_IGN)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for number in numbers {
            let event = unsafe event_new(
                loop.base,
                number,
                Int16(EV_SIGNAL | EV_PERSIST),
                { number, _, context in
                    let signals = unsafe Unmanaged<Signals>.fromOpaque(context!).takeUnretainedValue()
                    signals.loop.wake()
                    signals.action(Int32(number))
                },
                context
            )!
            unsafe event_add(event, nil)
            unsafe events.append(event)
        }
    }

    /// Has SIGHUP do nothing, which ends a process otherwise, until somebody wants to be told of it.
    public static func ignoreHangUp() {
        signal(SIGHUP, SIG_IGN)
    }

    deinit {
        while let event = unsafe events.popLast() { unsafe event_free(event) }
    }
}
