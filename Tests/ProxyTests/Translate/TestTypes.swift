import Glibc
import RPC

/// The types of the service that tests call.
enum TestTypes {
    // package pkg; message M { string name = 1; int64 count = 2; M inner = 3; repeated M list = 4; }
    // service Service { rpc Say(M) returns (M); rpc Talk(stream M) returns (stream M); }
    private static let set = """
        Cr8BCglwa2cucHJvdG8SA3BrZyJnCgFNEhIKBG5hbWUYASABKAlSBG5hbWUSFAoFY291bnQYAiABKANSBWNvdW50EhwKBWlubmVy\
        GAMgASgLMgYucGtnLk1SBWlubmVyEhoKBGxpc3QYBCADKAsyBi5wa2cuTVIEbGlzdDI8CgdTZXJ2aWNlEhUKA1NheRIGLnBrZy5N\
        GgYucGtnLk0SGgoEVGFsaxIGLnBrZy5NGgYucGtnLk0oATABYgZwcm90bzM=
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
