private import CLibevent
private import Glibc

/// Who is told that a descriptor is ready.
public protocol Watcher: AnyObject {
    /// The descriptor can be read, or its other end is gone.
    func readable()
    /// The descriptor can be written.
    func writable()
    /// The other end is gone, or sends no more; told while reading is not wanted.
    func hungUp()
}

extension Watcher {
    /// Does nothing: most watchers always read, and learn of the end by that.
    public func hungUp() {}
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
    private var hangup: OpaquePointer?
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
    public var wantsRead = false {
        didSet {
            guard wantsRead != oldValue else { return }
            if unsafe read == nil { unsafe read = makeEvent(EV_READ) }
            _ = unsafe wantsRead ? event_add(read, nil) : event_del(read)
        }
    }

    /// Whether the watcher is told when the descriptor can be written.
    public var wantsWrite = false {
        didSet {
            guard wantsWrite != oldValue else { return }
            if unsafe write == nil { unsafe write = makeEvent(EV_WRITE) }
            _ = unsafe wantsWrite ? event_add(write, nil) : event_del(write)
        }
    }

    /// Whether the watcher is told when the other end is gone, without reading what it has sent (EPOLLRDHUP).
    public var wantsHangup = false {
        didSet {
            guard wantsHangup != oldValue else { return }
            if unsafe hangup == nil { unsafe hangup = makeEvent(EV_CLOSED) }
            _ = unsafe wantsHangup ? event_add(hangup, nil) : event_del(hangup)
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
        if let hangup = unsafe hangup { unsafe event_free(hangup) }
        unsafe read = nil
        unsafe write = nil
        unsafe hangup = nil
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
                    switch Int32(kind) {
                    case EV_READ: unsafe watch.watcher.readable()
                    case EV_WRITE: unsafe watch.watcher.writable()
                    default: unsafe watch.watcher.hungUp()
                    }
                }
            },
            context
        )!
    }
}
