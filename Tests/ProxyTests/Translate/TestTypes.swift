import Glibc
import RPC

/// The types of the service that tests call.
enum TestTypes {
    // package pkg; message M { string name = 1; int64 count = 2; }
    // service Service { rpc Say(M) returns (M); rpc Talk(stream M) returns (stream M); }
    private static let set = """
        CoUBCglwa2cucHJvdG8SA3BrZyItCgFNEhIKBG5hbWUYASABKAlSBG5hbWUSFAoFY291bnQYAiABKANSBWNvdW50MjwKB1NlcnZp\
        Y2USFQoDU2F5EgYucGtnLk0aBi5wa2cuTRIaCgRUYWxrEgYucGtnLk0aBi5wa2cuTSgBMAFiBnByb3RvMw==
        """

    /// The file that they are in.
    static let path: String = {
        let path = "/tmp/martlet-types-\(getpid()).binpb"
        let text = Array(set.utf8)
        let bytes = Base64.decode(text.span) ?? []
        let descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        precondition(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        return path
    }()
}
