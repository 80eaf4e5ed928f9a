internal import HTTP
internal import Protocols

/// Who uses a stream of an upstream that may be translated on its way: an attempt, or what translates for it.
protocol AttemptStreamUser: HTTPStreamUser {
    /// Called when the head of the request is held until its body comes.
    func wantsBody()
    /// The head of a response has come with this HTTP status, and may be held on its way.
    func headCame(status: Int)
    /// A response that is nothing but this head has come: whether nobody wants it, as others may do better.
    func drops(_ head: HTTPHead, in rpcProtocol: RPCProtocol) -> Bool
    /// The exchange cannot go on, for another reason than a reset; the stream is no longer the user's.
    func streamFailed(_ error: UpstreamError)
}

extension AttemptStreamUser {
    /// Asks for the body that a held head waits for, in the place of the upstream, which is not asked for it any more.
    func holds(_ head: HTTPHead) {
        guard head.expectsContinue else { return }
        wantsBody()
        head.expectsContinue = false
    }
}
