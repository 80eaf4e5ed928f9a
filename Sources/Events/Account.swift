internal import Glibc

/// Looks up the numbers of users and groups; blocks, so for start and reload only.
public enum Account {
    /// Whether the group `name` exists and this process is a member of it.
    public static func isMember(of name: String) -> Bool {
        guard let id = group(name) else { return false }
        if getegid() == id { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(0, count))).contains(id)
    }

    static func user(_ name: String) -> UInt32? {
        var entry = unsafe passwd()
        return unsafe retrying { room, size in
            var found: UnsafeMutablePointer<passwd>?
            let status = unsafe getpwnam_r(name, &entry, room, size, &found)
            return unsafe (status, found?.pointee.pw_uid)
        }
    }

    static func group(_ name: String) -> UInt32? {
        var entry = unsafe Glibc.group()
        return unsafe retrying { room, size in
            var found: UnsafeMutablePointer<Glibc.group>?
            let status = unsafe getgrnam_r(name, &entry, room, size, &found)
            return unsafe (status, found?.pointee.gr_gid)
        }
    }

    /// Calls again with more room while the entry does not fit: a group with many members can be long.
    private static func retrying(_ lookUp: (UnsafeMutablePointer<CChar>, Int) -> (Int32, UInt32?)) -> UInt32? {
        var size = 4 * 1024
        while size <= 1024 * 1024 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe room.deallocate() }
            let (status, id) = unsafe lookUp(room, size)
            guard status == ERANGE else { return id }
            size *= 4
        }
        return nil
    }
}
