internal import Bytes
internal import Events
internal import Resolver
internal import Time

/// The resolver of a worker, driven by its loop.
final class NameService {
    private final class Descriptor: Watcher {
        private var watch: Watch?
        private let number: Int32
        private unowned let service: NameService

        init(_ number: Int32, of service: NameService) {
            self.number = number
            self.service = service
            watch = Watch(number, on: service.loop, for: self)
        }

        func watch(read: Bool, write: Bool) {
            watch?.watchesRead = read
            watch?.watchesWrite = write
        }

        func end() {
            watch?.end()
            watch = nil
        }

        func readable() { service.ready(readable: number, writable: nil) }
        func writable() { service.ready(readable: nil, writable: number) }
    }

    private let loop: EventLoop
    private var resolver: Resolver?
    private var descriptors: [Int32: Descriptor] = [:]
    private var timer: Timer?

    init(loop: EventLoop, options: Resolver.Options = .init()) {
        self.loop = loop
        resolver = Resolver(options) { [unowned self] in changed($0, $1, $2) }
        timer = Timer(on: loop.timers) { [unowned self] in
            resolver?.processTimeouts()
            armTimer()
        }
    }

    deinit {
        timer?.cancel()
        for descriptor in descriptors.values { descriptor.end() }
    }

    /// Looks up a name.
    func resolve(_ name: String, port: UInt16, completion: @escaping Resolver.Completion) {
        resolver?.resolve(name, port: port, completion: completion)
        armTimer()
    }

    /// Looks up the SRV records of a name.
    func resolve(service name: String, completion: @escaping (Result<ServiceRecords, ResolverError>) -> Void) {
        resolver?.resolve(service: name, completion: completion)
        armTimer()
    }

    private func changed(_ number: Int32, _ watchesRead: Bool, _ watchesWrite: Bool) {
        if watchesRead || watchesWrite {
            let descriptor = descriptors[number] ?? Descriptor(number, of: self)
            descriptors[number] = descriptor
            descriptor.watch(read: watchesRead, write: watchesWrite)
        } else if let descriptor = descriptors.removeValue(forKey: number) {
            descriptor.end()
            loop.keep(descriptor)
        }
    }

    private func ready(readable: Int32?, writable: Int32?) {
        resolver?.process(readable: readable, writable: writable)
        armTimer()
    }

    private func armTimer() {
        timer?.arm(after: resolver?.nextTimeout.map { $0 * .millisecond })
    }
}
