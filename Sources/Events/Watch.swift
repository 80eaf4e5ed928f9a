private import CLibevent
private import Glibc

/// Who is told that a descriptor is ready.
public protocol Watcher: AnyObject {
    /// The descriptor can be read, or its other end is gone.
    func readable()
    /// The descriptor can be written.
    func writable()
}

/// The readiness of one descriptor, told to one watcher.
///
/// The watcher owns the watch and outlives it; the watch does not own the descriptor. Ends with `end`, before the
/// descriptor is closed.
@safe
public final class Watch {
    private let loop: EventLoop
    private unowned(unsafe) let watcher: any Watcher
    private var read: OpaquePointer?
    private var write: OpaquePointer?
    private let descriptor: Int32

    /// Makes a watch that waits for nothing yet.
    public init(_ descriptor: Int32, on loop: EventLoop, for watcher: any Watcher) {
        self.descriptor = descriptor
        self.loop = loop
        unsafe self.watcher = watcher
    }

    deinit {
        free()
    }

    /// Whether the watcher is told when the descriptor can be read.
    public var watchesRead = false {
        didSet {
            guard watchesRead != oldValue else { return }
            if unsafe read == nil { unsafe read = makeEvent(EV_READ) }
            _ = unsafe watchesRead ? event_add(read, nil) : event_del(read)
        }
    }

    /// Whether the watcher is told when the descriptor can be written.
    public var watchesWrite = false {
        didSet {
            guard watchesWrite != oldValue else { return }
            if unsafe write == nil { unsafe write = makeEvent(EV_WRITE) }
            _ = unsafe watchesWrite ? event_add(write, nil) : event_del(write)
        }
    }

    /// Tells the watcher nothing any more.
    public func end() {
        // It may be this watch's callback that leads here.
        loop.keep(self)
        free()
    }

    private func free() {
        if let read = unsafe read { unsafe event_free(read) }
        if let write = unsafe write { unsafe event_free(write) }
        unsafe read = nil
        unsafe write = nil
    }

    private func makeEvent(_ kind: Int32) -> OpaquePointer {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe event_new(
            loop.base,
            descriptor,
            Int16(kind | EV_PERSIST),
            { _, kind, context in
                unsafe Unmanaged<Watch>.fromOpaque(context!)._withUnsafeGuaranteedRef { watch in
                    watch.loop.wake()
                    unsafe kind & Int16(EV_READ) != 0 ? watch.watcher.readable() : watch.watcher.writable()
                }
            },
            context
        )!
    }
}
