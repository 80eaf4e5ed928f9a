/// The frame that has ended the body of a response.
struct EndFrame {
    let flags: UInt8
    /// The payload as it has come.
    let payload: [UInt8]
    /// The payload, decompressed; none if it cannot be.
    let content: [UInt8]?
}
