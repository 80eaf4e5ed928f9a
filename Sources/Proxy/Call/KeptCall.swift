package import Time

/// A call that is over, as far as it is kept for people.
package struct KeptCall: Sendable {
    /// The time of day at which it ended.
    package let time: WallTime
    /// Its id, as `{call.id}` has it.
    package let id: [UInt8]
    /// The line of JSON that the access log would have, with its decision trace.
    package let text: [UInt8]
    /// The request as the caller has sent it; none if the call went well and no tap was open.
    package let caller: RequestCopy?
    /// The request as it has gone upstream last; none if no tap was open.
    package let upstream: RequestCopy?
}
