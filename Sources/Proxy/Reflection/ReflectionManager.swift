package import Configuration
package import Events
internal import Policy
package import Time
package import Types

/// Fetches the types of an upstream by reflection for all workers, at once and then again and again.
///
/// The last good types stay when a fetch fails, and through a reload that names the same upstream. Belongs to one thread.
package final class ReflectionManager {
    /// Something that an operator should know.
    package enum Event {
        /// There are other types than before, or there are types again.
        case known(ReflectionReport, ReflectedFiles)
        /// A fetch has failed, and not as the one before.
        case failed(ReflectionReport)
    }

    private let loop: EventLoop
    private let fetcher: Fetcher
    private let publish: (KnownTypes) -> Void
    private let onEvent: (Event) -> Void
    private lazy var tasks = LoopTasks(on: loop)
    private var random = Xoshiro256()
    /// What the configuration says.
    private var source: (plan: ReflectionPlan, base: KnownTypes, whole: Plan)?
    /// The last good types, and the files that they are made of; no files if those of the configuration do not fit them.
    private var last: (types: KnownTypes, files: ReflectedFiles?)?
    private var schedule = ReflectionSchedule(refresh: .zero, at: .start)
    private var fetch: ReflectionFetch?
    private var linking: LoopTask?
    private var timer: Timer?
    /// What is known of it; none if the configuration names no upstream.
    package private(set) var report: ReflectionReport?

    /// Makes a manager that fetches nothing.
    ///
    /// - Parameters:
    ///   - loop: the loop of the thread.
    ///   - publish: receives the types that calls should go by from now on.
    ///   - onEvent: receives what an operator should know.
    package init(
        loop: EventLoop,
        publish: @escaping (KnownTypes) -> Void,
        onEvent: @escaping (Event) -> Void
    ) {
        self.loop = loop
        self.publish = publish
        self.onEvent = onEvent
        fetcher = Fetcher(loop: loop)
    }

    /// Goes over to a configuration, and fetches at once what it names.
    ///
    /// - Returns: the types that calls of the configuration should go by.
    package func use(_ plan: Plan) -> KnownTypes? {
        end()
        guard let reflection = plan.reflection, let base = plan.types else {
            (source, last, report) = (nil, nil, nil)
            return plan.types
        }
        if source?.plan.upstream != reflection.upstream {
            last = nil
            report = ReflectionReport(upstream: reflection.upstream)
        }
        let hasSameFiles = source?.base.hasSameFiles(as: base) ?? false
        source = (reflection, base, plan)
        schedule = ReflectionSchedule(refresh: reflection.refresh, at: loop.now)
        arm()
        guard let last else { return base }
        // To link them again would only take time.
        guard !hasSameFiles else {
            self.last = (last.types.written(as: base), last.files)
            return self.last?.types
        }
        // Where other files of the configuration do not fit, what fitted before stays.
        let types = last.files.flatMap { try? base.adding($0) }
        self.last = (types ?? last.types.written(as: base), types == nil ? nil : last.files)
        return self.last?.types
    }

    /// A call has a method that is not known.
    package func request() {
        guard last != nil else { return }
        schedule.request(at: loop.now)
        arm()
    }

    /// Fetches nothing any more.
    package func end() {
        timer?.cancel()
        fetch?.cancel()
        linking?.cancel()
        (timer, fetch, linking) = (nil, nil, nil)
        fetcher.drain()
    }

    private func arm() {
        guard fetch == nil, linking == nil else { return }
        let timer = self.timer ?? Timer(on: loop.timers) { [unowned self] in begin() }
        self.timer = timer
        timer.arm(at: schedule.due)
    }

    private func begin() {
        guard let source, fetch == nil, linking == nil else { return }
        schedule.begin(at: loop.now)
        // A connection from the last time may lead to a server that is gone.
        fetcher.drain()
        let upstream = fetcher.upstream(source.plan.server)
        let fetch = ReflectionFetch(from: upstream, known: source.base.files) { [unowned self] in received($0) }
        self.fetch = fetch
        fetch.start()
    }

    private func received(_ result: Result<ReflectedFiles, ReflectionError>) {
        fetch = nil
        switch result {
        case .failure(let error): fail(error)
        case .success(let files) where files == last?.files: succeed(files)
        case .success(let files): link(files)
        }
    }

    /// Makes types of the files, which may take longer than a loop should wait.
    private func link(_ files: ReflectedFiles) {
        guard let base = source?.base else { return }
        linking = tasks.start(on: .types) {
            Result { () throws(ReflectionError) in try base.adding(files) }
        } then: { [unowned self] in
            linked($0, files)
        }
    }

    private func linked(_ result: Result<KnownTypes, ReflectionError>, _ files: ReflectedFiles) {
        linking = nil
        switch result {
        case .failure(let error): fail(error)
        case .success(let types):
            last = (types, files)
            let diagnostics = Diagnostics()
            source?.whole.check(types.set, into: diagnostics)
            report?.warnings = diagnostics.warnings
            publish(types)
            succeed(files, isNew: true)
        }
    }

    private func succeed(_ files: ReflectedFiles, isNew: Bool = false) {
        schedule.succeed(at: loop.now)
        let hadError = report?.error != nil
        report?.error = nil
        report?.succeeded += 1
        report?.lastSuccess = loop.clock.wall
        report?.services = last?.types.set.services.count
        report?.unknownRESTServices = last?.types.unknownRESTServices ?? []
        if let report, isNew || hadError { onEvent(.known(report, files)) }
        arm()
    }

    private func fail(_ error: ReflectionError) {
        schedule.fail(at: loop.now, random: random.nextFraction())
        let isNew = report?.error != error.text
        report?.error = error.text
        report?.failed += 1
        if let report, isNew { onEvent(.failed(report)) }
        arm()
    }
}

/// What is known of the reflection of an upstream.
package struct ReflectionReport: Sendable {
    /// The name of the upstream.
    package let upstream: String
    /// How many services are known, those of files included; none if no fetch has succeeded.
    package fileprivate(set) var services: Int?
    /// What the configuration names and the types do not have.
    package fileprivate(set) var warnings: [Diagnostic] = []
    /// The services of `types.rest` that nobody has.
    package fileprivate(set) var unknownRESTServices: [String] = []
    /// Why the last fetch has failed, if it has.
    package fileprivate(set) var error: String?
    /// How many fetches have succeeded.
    package fileprivate(set) var succeeded = 0
    /// How many have failed.
    package fileprivate(set) var failed = 0
    /// When the last one succeeded.
    package fileprivate(set) var lastSuccess: WallTime?

    fileprivate init(upstream: String) {
        self.upstream = upstream
    }
}

extension Plan {
    /// The types that calls go by, with those that reflection brings now.
    ///
    /// The thread waits for the upstream: it must not be one with a loop that runs.
    ///
    /// - Returns: the types, or why reflection has brought none, in words.
    package func fetchTypes() -> Result<KnownTypes?, ReflectionFailure> {
        guard reflection != nil else { return .success(types) }
        let loop = EventLoop()
        var result: Result<KnownTypes?, ReflectionFailure> = .success(nil)
        let manager = ReflectionManager(
            loop: loop,
            publish: { result = .success($0) },
            onEvent: { event in
                if case .failed(let report) = event { result = .failure(ReflectionFailure(text: report.error ?? "")) }
                loop.stop()
            }
        )
        _ = manager.use(self)
        loop.run()
        manager.end()
        return result
    }
}

/// Why the types of an upstream are not known, in words.
package struct ReflectionFailure: Error {
    /// The words.
    package let text: String
}
