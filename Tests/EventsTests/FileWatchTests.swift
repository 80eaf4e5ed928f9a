import Glibc
import Testing

@testable import Events

@Suite struct FileWatchTests {
    let directory = TemporaryDirectory()
    let watch = FileWatch()
    var path: String { directory / "token" }

    @Test func `a rewrite in place is noticed when the writer closes`() {
        write("one", to: path)
        watch.watch(path)
        let file = unsafe open(path, O_WRONLY | O_TRUNC)
        #expect(isQuiet())
        _ = unsafe Glibc.write(file, "longer", 6)
        close(file)
        #expect(changes() == [path])
        #expect(watch.poll() == [])
    }

    @Test func `a rename over the file is noticed`() {
        write("one", to: path)
        watch.watch(path)
        write("two", to: directory / "token.new")
        #expect(unsafe rename(directory / "token.new", path) == 0)
        #expect(changes() == [path])
    }

    @Test func `the way Kubernetes swaps a secret is noticed, again and again`() {
        let volume = directory / "volume"
        makeDirectory(volume)
        project("one", as: "..1", in: volume)
        _ = unsafe symlink("..data/token", volume + "/token")
        watch.watch(volume + "/token")
        for version in ["..2", "..3", "..4"] {
            project("token of \(version)", as: version, in: volume)
            #expect(changes() == [volume + "/token"])
        }
        #expect(watch.limitation == nil)
    }

    @Test func `a swap of a link to the directory is noticed`() {
        for version in ["v1", "v2"] {
            makeDirectory(directory / version)
            write("token of \(version)", to: (directory / version) + "/token")
        }
        _ = unsafe symlink("v1", directory / "current")
        watch.watch((directory / "current") + "/token")
        _ = unsafe symlink(directory / "v2", directory / "next")
        #expect(unsafe rename(directory / "next", directory / "current") == 0)
        #expect(changes() == [(directory / "current") + "/token"])
        write("rewritten behind the link", to: directory / "v2/token")
        #expect(changes() == [(directory / "current") + "/token"])
    }

    @Test func `a file that appears late is noticed, with the directories it is in`() {
        let late = directory / "a/b/token"
        watch.watch(late)
        makeDirectory(directory / "a")
        makeDirectory(directory / "a/b")
        write("one", to: late)
        #expect(changes() == [late])
    }

    @Test func `a name may begin with any character`() {
        makeDirectory(directory / "d")
        makeDirectory(directory / "d/\u{301}a")
        let odd = directory / "d/\u{301}a/\u{301}token"
        write("one", to: odd)
        watch.watch(odd)
        write("two", to: odd)
        #expect(changes() == [odd])
    }

    @Test func `a deletion and what follows it are noticed`() {
        makeDirectory(directory / "a")
        let path = directory / "a/token"
        write("one", to: path)
        watch.watch(path)
        _ = unsafe unlink(path)
        #expect(changes() == [path])
        _ = unsafe rmdir(directory / "a")
        #expect(isQuiet(waiting: true))
        makeDirectory(directory / "a")
        write("one", to: path)
        #expect(changes() == [path])
    }

    @Test func `a directory that is moved away takes its file with it`() {
        makeDirectory(directory / "a")
        write("one", to: directory / "a/token")
        watch.watch(directory / "a/token")
        #expect(unsafe rename(directory / "a", directory / "b") == 0)
        #expect(changes() == [directory / "a/token"])
    }

    @Test func `other files of the directory are of no concern`() {
        write("one", to: path)
        watch.watch(path)
        write("two", to: directory / "other")
        #expect(isQuiet(waiting: true))
    }

    @Test func `each of many files is reported by its own path`() {
        for name in ["a", "b", "c"] {
            write("one", to: directory / name)
            watch.watch(directory / name)
        }
        write("longer", to: directory / "b")
        #expect(changes() == [directory / "b"])
        watch.unwatch(directory / "b")
        write("longer still", to: directory / "b")
        #expect(isQuiet(waiting: true))
        write("longer", to: directory / "c")
        #expect(changes() == [directory / "c"])
    }

    @Test func `without inotify, polling finds the same changes and says so`() {
        let watch = FileWatch(inotify: -EMFILE)
        #expect(watch.descriptor == nil)
        #expect(watch.limitation == "inotify is not available: Too many open files")
        watch.watch(path)
        #expect(watch.poll() == [])
        write("one", to: path)
        #expect(watch.poll() == [path])
        #expect(watch.poll() == [])
        _ = unsafe unlink(path)
        #expect(watch.poll() == [path])
        #expect(watch.descriptorReadable() == [])
    }

    @Test func `a loop of links is watched until it leads to a file`() {
        _ = unsafe symlink("token", path)
        watch.watch(path)
        _ = unsafe unlink(path)
        write("one", to: path)
        #expect(changes() == [path])
    }

    @Test func `the number of files is bounded`() {
        let watch = FileWatch(inotify: -EMFILE)
        for number in 0..<FileWatch.limit { #expect(watch.watch("/none/\(number)")) }
        #expect(!watch.watch("/none/one-too-many"))
        #expect(watch.watch("/none/0"))
        watch.unwatch("/none/0")
        #expect(watch.watch("/none/one-too-many"))
    }
}

extension FileWatchTests {
    /// What inotify makes known first, or nothing after five seconds.
    func changes() -> [String] {
        while isReadable(milliseconds: 5000) {
            let changed = watch.descriptorReadable()
            if !changed.isEmpty { return changed }
        }
        return []
    }

    /// Whether nothing is told of what has happened so far; `waiting` for the events that must have come of it.
    func isQuiet(waiting: Bool = false) -> Bool {
        if waiting, !isReadable(milliseconds: 5000) { return false }
        while isReadable(milliseconds: 0) {
            if !watch.descriptorReadable().isEmpty { return false }
        }
        return true
    }

    func isReadable(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: watch.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&entry, 1, milliseconds) == 1
    }

    func write(_ text: String, to path: String) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = unsafe Glibc.write(file, text, text.utf8.count)
        close(file)
    }

    func makeDirectory(_ path: String) {
        _ = unsafe mkdir(path, 0o700)
    }

    /// Puts a new version of a secret into a volume as the kubelet does: all of it beside the old, then one rename.
    func project(_ secret: String, as version: String, in volume: String) {
        makeDirectory(volume + "/" + version)
        write(secret, to: volume + "/" + version + "/token")
        _ = unsafe symlink(version, volume + "/..data_tmp")
        _ = unsafe rename(volume + "/..data_tmp", volume + "/..data")
    }
}
