import Glibc
import RPC

/// The types of the service that tests call.
enum TestTypes {
    // package pkg;
    // message M {
    //   string name = 1; int64 count = 2; M inner = 3; repeated M list = 4; bool is_admin = 5; map<string, M> labels = 6;
    // }
    // service Service {
    //   rpc Say(M) returns (M);
    //   rpc Talk(stream M) returns (stream M);
    //   rpc Read(M) returns (M) { option idempotency_level = NO_SIDE_EFFECTS; }
    // }
    private static let set = """
        CucCCglwa2cucHJvdG8SA3BrZyLxAQoBTRISCgRuYW1lGAEgASgJUgRuYW1lEhQKBWNvdW50GAIgASgDUgVjb3VudBIcCgVpbm5l\
        chgDIAEoCzIGLnBrZy5NUgVpbm5lchIaCgRsaXN0GAQgAygLMgYucGtnLk1SBGxpc3QSGQoIaXNfYWRtaW4YBSABKAhSB2lzQWRt\
        aW4SKgoGbGFiZWxzGAYgAygLMhIucGtnLk0uTGFiZWxzRW50cnlSBmxhYmVscxpBCgtMYWJlbHNFbnRyeRIQCgNrZXkYASABKAlS\
        A2tleRIcCgV2YWx1ZRgCIAEoCzIGLnBrZy5NUgV2YWx1ZToCOAEyWQoHU2VydmljZRIVCgNTYXkSBi5wa2cuTRoGLnBrZy5NEhoK\
        BFRhbGsSBi5wa2cuTRoGLnBrZy5NKAEwARIbCgRSZWFkEgYucGtnLk0aBi5wa2cuTSIDkAIBYgZwcm90bzM=
        """

    /// The descriptor set.
    static let bytes: [UInt8] = {
        let text = Array(set.utf8)
        return Base64.decode(text.span) ?? []
    }()

    /// The file that they are in.
    static let path: String = {
        let path = "/tmp/martlet-types-\(getpid()).binpb"
        let descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        precondition(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        return path
    }()
}
