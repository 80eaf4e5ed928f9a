private import CLinux

/// What the process may ask of the kernel.
public enum SystemCalls {
    /// From now on no program that this process starts has more privileges than the process itself, which keeps only the
    /// capabilities to use files of others, to listen on low ports and to end its programs.
    ///
    /// Call it before there are other threads.
    public static func renouncePrivileges() throws(SystemError) {
        let result = martlet_renounce_privileges()
        guard result >= 0 else { throw SystemError(-result) }
    }

    /// From now on only the system calls of an ordinary service are possible; the others fail with EPERM.
    ///
    /// Only after `renouncePrivileges`.
    ///
    /// - Parameter startsPrograms: whether starting programs stays possible.
    /// - Throws: why the kernel does not do it.
    public static func filter(startsPrograms: Bool) throws(SystemError) {
        let result = martlet_filter_calls(startsPrograms)
        guard result >= 0 else { throw SystemError(-result) }
    }

    /// From now on no connection begins with its first bytes (TCP Fast Open): Landlock's rules of ports do not see it.
    ///
    /// Only after `renouncePrivileges`.
    ///
    /// - Throws: why the kernel does not do it.
    public static func filterFastOpen() throws(SystemError) {
        let result = martlet_filter_fast_open()
        guard result >= 0 else { throw SystemError(-result) }
    }

    /// From now on no thread makes a Unix socket, except pairs of connected stream sockets.
    ///
    /// Only after `filter`, with other threads or without. Sockets that are open stay so.
    ///
    /// - Throws: why the kernel does not do it.
    public static func filterUnixSockets() throws(SystemError) {
        let result = martlet_filter_unix_sockets()
        guard result >= 0 else { throw SystemError(-result) }
    }
}
