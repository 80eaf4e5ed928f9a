internal import CLinux
internal import Glibc

/// Reports when named files change, in every way in which secrets are rotated.
///
/// Seen are a rewrite in place, a rename over the file, a swap of any symbolic link on the way to it, its appearing, also
/// with directories that do not exist yet, and its deletion. inotify tells at once; `poll` finds what inotify cannot see,
/// as on network file systems and under bind mounts. Belongs to one thread and never waits.
public final class FileWatch {
    /// The most files that can be watched.
    public static let limit = 1024

    /// What to watch for readability; none if inotify is not to be had, and polling is all there is.
    public let descriptor: Int32?
    /// Why changes of some or all files are found by polling only, in words; none if all is well.
    public private(set) var limitation: String?

    private var files: [String: WatchedFile] = [:]
    private var pathsByWatch: [Int32: Set<String>] = [:]

    private struct WatchedFile {
        var identity: FileIdentity?
        var watches: Set<Int32> = []
    }

    /// Makes a watch of no files.
    public convenience init() {
        self.init(inotify: martlet_inotify_open())
    }

    /// Takes an inotify instance, or the negative errno of having none.
    init(inotify: Int32) {
        descriptor = inotify < 0 ? nil : inotify
        if inotify < 0 { limitation = "inotify is not available: \(Self.text(of: inotify))" }
    }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// Begins to watch a file, which need not exist.
    ///
    /// - Returns: whether it is watched; not if `limit` files are watched already.
    @discardableResult
    public func watch(_ path: String) -> Bool {
        if files[path] != nil { return true }
        guard files.count < Self.limit else { return false }
        files[path] = WatchedFile()
        updateWatches(of: path)
        files[path]?.identity = FileIdentity(of: path)
        return true
    }

    /// Stops watching a file.
    public func unwatch(_ path: String) {
        guard let file = files.removeValue(forKey: path) else { return }
        for watch in file.watches { release(watch, of: path) }
    }

    /// Takes what the descriptor has to tell, a bounded piece at a time.
    ///
    /// - Returns: the paths whose files are not what they were when last looked at, sorted.
    public func descriptorReadable() -> [String] {
        guard let descriptor else { return [] }
        var touched: Set<String> = []
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { room in
            let count = unsafe read(descriptor, room.baseAddress, room.count)
            guard count > 0 else { return }
            var offset = 0
            var event = martlet_inotify_event()
            while unsafe martlet_inotify_next(room.baseAddress!, count, &offset, &event) {
                touched.formUnion(event.events_lost ? Set(files.keys) : pathsByWatch[event.watch] ?? [])
                if event.watch_ended { pathsByWatch[event.watch] = nil }
            }
        }
        // Placed anew before the look, so that the new watches tell of what comes after it. What slips in between the
        // reading of a link and the watch on its target is left to `poll`.
        for path in touched { updateWatches(of: path) }
        return touched.sorted().filter { hasChanged($0) }
    }

    /// Looks at every file; to be called every ten seconds or so.
    ///
    /// - Returns: the paths whose files are not what they were when last looked at, sorted.
    public func poll() -> [String] {
        let changed = files.keys.sorted().filter { hasChanged($0) }
        for path in changed { updateWatches(of: path) }
        return changed
    }

    /// Looks at one file.
    ///
    /// - Returns: whether it is not what it was when last looked at.
    public func poll(_ path: String) -> Bool {
        guard hasChanged(path) else { return false }
        updateWatches(of: path)
        return true
    }

    private func hasChanged(_ path: String) -> Bool {
        let now = FileIdentity(of: path)
        guard files[path]?.identity != now else { return false }
        files[path]?.identity = now
        return true
    }

    /// Puts watches on all directories that matter to `path` now, and takes off those that no longer do.
    private func updateWatches(of path: String) {
        guard let descriptor, let old = files[path]?.watches else { return }
        var new: Set<Int32> = []
        for directory in FileTrail(of: path).directories {
            // One and the same watch comes back for a directory that is watched already.
            let watch = unsafe martlet_inotify_add(descriptor, directory)
            if watch >= 0 {
                new.insert(watch)
                pathsByWatch[watch, default: []].insert(path)
            } else if watch != -ENOENT, watch != -ENOTDIR {
                limitation = "inotify cannot watch \(directory): \(Self.text(of: watch))"
            }
        }
        for watch in old.subtracting(new) { release(watch, of: path) }
        files[path]?.watches = new
    }

    private func release(_ watch: Int32, of path: String) {
        guard let descriptor, var paths = pathsByWatch[watch] else { return }
        paths.remove(path)
        pathsByWatch[watch] = paths.isEmpty ? nil : paths
        if paths.isEmpty { martlet_inotify_remove(descriptor, watch) }
    }

    private static func text(of negativeErrno: Int32) -> String {
        unsafe negativeErrno == -ENOSPC
            ? "the limit fs.inotify.max_user_watches is reached" : String(cString: martlet_error_text(-negativeErrno))
    }
}
