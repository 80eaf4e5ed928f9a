internal import Events
private import Glibc
internal import Telemetry
internal import Time

/// The metrics of the process: its memory, and what /proc tells.
enum ProcessMetrics {
    /// The metrics as they are now.
    static var families: [MetricFamily] {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        let cpu = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
        let memory = memory
        return [
            MetricFamily(.heapInUse, .number(Memory.inUse)),
            MetricFamily(.processCPU, .nanoseconds(cpu)),
            MetricFamily(.processMemory, .number(memory.resident)),
            MetricFamily(.processVirtualMemory, .number(memory.virtual)),
            MetricFamily(.processFiles, .number(openFiles)),
            MetricFamily(.processMaxFiles, .number(maxOpenFiles)),
            MetricFamily(.processThreads, .number(threads)),
            MetricFamily(.processStartTime, .nanoseconds(startTime)),
        ]
    }

    private static func nanoseconds(_ time: timeval) -> Int {
        Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_usec) * 1000
    }

    /// The memory that is resident and no page of a file, such as the program.
    static var ownBytes: Int {
        let memory = memory
        return memory.resident - memory.shared
    }

    private static var memory: (virtual: Int, resident: Int, shared: Int) {
        let pages = text("/proc/self/statm").split(separator: " ").map { Int($0) ?? 0 }
        guard pages.count > 2 else { return (0, 0, 0) }
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (pages[0] * size, pages[1] * size, pages[2] * size)
    }

    private static var openFiles: Int {
        guard let directory = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        // `.`, `..` and the descriptor that reads the directory are not open files of ours.
        return max(0, count - 3)
    }

    /// The soft limit of open file descriptors, as it is now.
    private static var maxOpenFiles: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }

    private static var threads: Int { statistic(17) }

    /// A number of /proc/self/stat, counted from the one behind the program's name, which is 0; 0 if it is not there.
    private static func statistic(_ index: Int) -> Int {
        let fields = text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        return fields.indices.contains(index) ? Int(fields[index]) ?? 0 : 0
    }

    /// When the process started.
    static var start: WallTime { WallTime(nanoseconds: Int64(startTime)) }

    /// The start in nanoseconds since 1970: the boot time, and the process's ticks since then.
    private static let startTime: Int = {
        let boot = text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        let seconds = boot.flatMap { Int($0.dropFirst(6)) } ?? 0
        let ticks = statistic(19)
        return seconds * 1_000_000_000 + ticks * (1_000_000_000 / Int(sysconf(Int32(_SC_CLK_TCK))))
    }()

    private static func text(_ path: String) -> String {
        guard case .success(let bytes) = SmallFile.read(path, limit: 1 << 20) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
