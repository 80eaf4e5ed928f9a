import Bytes
import Configuration
import Glibc
import Testing

@testable import Events

@Suite struct ListenSocketTests {
    let directory = TemporaryDirectory()

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `port 0 becomes a real port that can be connected to`(host: String) throws {
        let socket = try ListenSocket.open(.tcp(host: host, port: 0))
        #expect(socket.localAddress.hasPrefix("127.0.0.1:"))
        #expect(socket.localAddress != "127.0.0.1:0")
        #expect(canConnect(to: socket))
    }

    @Test func `a port in use is an error, also between sockets that would share it`() throws {
        let first = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0), reusePort: true)
        let error = #expect(throws: ListenError.self) {
            try ListenSocket.open(.tcp(host: "127.0.0.1", port: first.port), reusePort: true)
        }
        #expect(error?.description == "cannot listen on \(first.localAddress): another process uses the address")
    }

    @Test func `a port can be had again after its socket is closed`() throws {
        // Other tests do not use this address, so none of them takes the port when it is free.
        let first = try ListenSocket.open(.tcp(host: "127.0.0.98", port: 0), reusePort: true)
        let port = first.port
        first.close()
        let second = try ListenSocket.open(.tcp(host: "127.0.0.98", port: port), reusePort: true)
        #expect(second.localAddress == first.localAddress)
    }

    @Test func `workers that share a port each have a queue of their own`() throws {
        let first = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0), reusePort: true)
        let second = try first.another()
        #expect(second.localAddress == first.localAddress)
        first.close()
        #expect(canConnect(to: second))
    }

    @Test func `without a shared port the workers share the queue`() throws {
        let first = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let second = try first.another()
        let client = try #require(connected(to: first))
        defer { close(client) }
        #expect(isReadable(first.descriptor) && isReadable(second.descriptor))
    }

    @Test func `an IPv6 socket leaves the IPv4 port alone`() throws {
        // Somebody else may have the IPv4 port of one number, and not that of all.
        let ports = try (0..<20).map { _ in
            let six = try ListenSocket.open(.tcp(host: "::", port: 0))
            #expect(six.localAddress.hasPrefix("[::]:"))
            return (six, try? ListenSocket.open(.tcp(host: "0.0.0.0", port: six.port)))
        }
        #expect(ports.contains { six, four in four?.port == six.port })
    }

    @Test func `localhost is both loopback addresses, on one port`() throws {
        let sockets = try ListenSocket.openAll(.tcp(host: "localhost", port: 0), permissions: SocketPermissions())
        #expect(sockets.map(\.localAddress) == ["127.0.0.1:\(sockets[0].port)", "[::1]:\(sockets[0].port)"])
        #expect(ListenAddress.tcp(host: "127.0.0.1", port: 1).available == [.tcp(host: "127.0.0.1", port: 1)])
    }

    @Test func `a socket beside one whose port is taken gets another port`() throws {
        let four = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let first = try ListenSocket.open(.tcp(host: "::1", port: 0), beside: four)
        let second = try ListenSocket.open(.tcp(host: "::1", port: 0), beside: four)
        #expect(first.port == four.port && second.port != four.port)
    }

    @Test func `addresses that cannot be had are reported in words`() {
        let wrong: [(ListenAddress, String)] = [
            (
                .tcp(host: "example.org", port: 1),
                "cannot listen on example.org:1: \"example.org\" is not an IP address"
            ),
            (
                .tcp(host: "192.0.2.1", port: 1),
                "cannot listen on 192.0.2.1:1: no network interface of this machine has the address"
            ),
            (.unix(path: ""), "cannot listen on unix:: the path is empty"),
            (
                .unix(path: directory / "none/a.sock"),
                "cannot listen on unix:\(directory / "none/a.sock"): the directory does not exist"
            ),
            (
                .unix(path: "/" + String(repeating: "x", count: 107)),
                "cannot listen on unix:/\(String(repeating: "x", count: 107)): the path has 108 bytes, but Linux allows at most 107"
            ),
        ]
        for (address, text) in wrong {
            let error = #expect(throws: ListenError.self) { try ListenSocket.open(address) }
            #expect(error?.description == text)
        }
    }

    @Test func `a Unix socket has the mode it was given, whatever the umask`() throws {
        let path = directory / "a.sock"
        let socket = try ListenSocket.open(
            .unix(path: path),
            permissions: SocketPermissions(mode: 0o666, owner: "\(getuid())", group: "\(getgid())")
        )
        #expect(status(path)?.st_mode == S_IFSOCK | 0o666)
        #expect(socket.localAddress == "unix:\(path)")
        #expect(canConnect(to: socket))
    }

    @Test func `owner and group are found by name`() throws {
        #expect(Account.user("root") == 0)
        #expect(Account.group("root") == 0)
        #expect(Account.user("no such user") == nil)
        let error = #expect(throws: ListenError.self) {
            try ListenSocket.open(
                .unix(path: directory / "a.sock"),
                permissions: SocketPermissions(group: "nobody here")
            )
        }
        #expect(error?.description.hasSuffix("the group \"nobody here\" does not exist") == true)
        #expect(status(directory / "a.sock") == nil)
    }

    @Test func `the file of a Unix socket goes when the socket is closed`() throws {
        let path = directory / "a.sock"
        let socket = try ListenSocket.open(.unix(path: path))
        let copy = try socket.another()
        copy.close()
        #expect(status(path) != nil)
        socket.close()
        socket.close()
        #expect(status(path) == nil)
    }

    @Test func `a file that took the place of the socket's own is left alone`() throws {
        let path = directory / "a.sock"
        let first = try ListenSocket.open(.unix(path: path))
        #expect(unsafe rename(path, directory / "old.sock") == 0)
        let second = try ListenSocket.open(.unix(path: path))
        first.close()
        #expect(canConnect(to: second))
        #expect(status(path) != nil)
    }

    @Test func `a stale socket file is replaced, a live one and an ordinary file are not`() throws {
        let path = directory / "a.sock"
        let dead = try ListenSocket.open(.unix(path: path))
        #expect(unsafe link(path, directory / "stale.sock") == 0)
        dead.close()
        let live = try ListenSocket.open(.unix(path: directory / "stale.sock"))
        #expect(canConnect(to: live))

        let second = #expect(throws: ListenError.self) { try ListenSocket.open(.unix(path: directory / "stale.sock")) }
        #expect(second?.description.hasSuffix("another process uses the address") == true)
        #expect(canConnect(to: live))

        close(unsafe creat(directory / "file", 0o600))
        let third = #expect(throws: ListenError.self) { try ListenSocket.open(.unix(path: directory / "file")) }
        #expect(third?.description.hasSuffix("the file exists, but is not a socket") == true)
        #expect(status(directory / "file") != nil)
    }

    @Test func `sockets in a directory that no process listens on are removed, and nothing else`() throws {
        let dead = try ListenSocket.open(.unix(path: directory / "a.sock"))
        #expect(unsafe link(directory / "a.sock", directory / "stale.sock") == 0)
        dead.close()
        let live = try ListenSocket.open(.unix(path: directory / "live.sock"))
        close(unsafe creat(directory / "file", 0o600))
        try #require(unsafe mkdir(directory / "orders", 0o700) == 0)

        ListenSocket.removeStale(in: directory.path)
        #expect(status(directory / "stale.sock") == nil)
        #expect(canConnect(to: live))
        #expect(status(directory / "live.sock") != nil)
        #expect(status(directory / "file") != nil && status(directory / "orders") != nil)
        ListenSocket.removeStale(in: directory / "none")
    }

    @Test func `a process is a member of its own group, and of none that does not exist`() {
        #expect(unsafe Account.isMember(of: String(cString: getgrgid(getegid()).pointee.gr_name)))
        #expect(!Account.isMember(of: "nobody here"))
    }

    @Test func `an abstract socket can be connected to and has one owner`() throws {
        let name = "martlet-test-\(getpid())"
        let socket = try ListenSocket.open(.abstract(name: name))
        #expect(socket.localAddress == "unix:@\(name)")
        #expect(canConnect(to: socket))
        #expect(throws: ListenError.self) { try ListenSocket.open(.abstract(name: name)) }
    }

    @Test func `sockets do not block and are not inherited`() throws {
        let sockets = [
            try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0)),
            try ListenSocket.open(.unix(path: directory / "a")),
        ]
        for socket in try sockets + sockets.map({ try $0.another() }) {
            #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }
}

extension ListenSocketTests {
    func connected(to listener: ListenSocket) -> Int32? {
        guard let address = SocketAddress(localOf: listener.descriptor) else { return nil }
        let client = socket(Int32(address.family.rawValue), Int32(SOCK_STREAM.rawValue), 0)
        if unsafe address.withSystemForm({ unsafe connect(client, $0, $1) }) == 0 { return client }
        close(client)
        return nil
    }

    func canConnect(to listener: ListenSocket) -> Bool {
        guard let client = connected(to: listener), isReadable(listener.descriptor) else { return false }
        close(client)
        return true
    }

    func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 5000) == 1
    }

    func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }
}

extension ListenSocket {
    fileprivate var port: UInt16 { SocketAddress(localOf: descriptor)?.port ?? 0 }
}
