internal import CLinux
internal import Glibc

/// Why a listening socket could not be had; `description` names the address and the cause.
public struct ListenError: Error, CustomStringConvertible, Sendable {
    /// One line for people: `cannot listen on 127.0.0.1:80: …`.
    public let description: String

    /// Whether the cause may pass by itself: the port is taken, or the network is not up yet.
    public let isTransient: Bool

    init(_ address: some CustomStringConvertible, _ cause: String, isTransient: Bool = false) {
        description = "cannot listen on \(address): \(cause)"
        self.isTransient = isTransient
    }

    init(_ address: some CustomStringConvertible, errno error: Int32) {
        let isTransient = [EADDRINUSE, EADDRNOTAVAIL, EMFILE, ENFILE].contains(error)
        self.init(address, Self.cause(of: error), isTransient: isTransient)
    }

    /// A system call and how it failed: `lchown: Operation not permitted (errno 1)`.
    static func text(_ call: StaticString, _ error: Int32) -> String {
        "\(call): \(unsafe String(cString: martlet_error_text(error))) (errno \(error))"
    }

    private static func cause(of error: Int32) -> String {
        switch error {
        case EADDRINUSE: "another process uses the address"
        case EADDRNOTAVAIL: "no network interface of this machine has the address"
        case EAFNOSUPPORT: "this machine does not support the address family"
        case EACCES, EPERM:
            "permission denied (a port below 1024 needs CAP_NET_BIND_SERVICE, a Unix socket a writable directory)"
        case ENOENT: "the directory does not exist"
        case EMFILE, ENFILE: "out of file descriptors"
        default: unsafe String(cString: martlet_error_text(error))
        }
    }
}
