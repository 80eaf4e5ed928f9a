import Bytes

struct FillError: Error {}

extension ByteQueue {
    /// Writes `bytes` into a room of ten and says that `count` were written.
    func fill(_ bytes: [UInt8], claiming count: Int) -> Int {
        unsafe append(room: 10) { room in
            unsafe room.copyBytes(from: bytes)
            return count
        }
    }

    /// Fails to write into a room of ten.
    func failToFill() throws(FillError) {
        _ = try unsafe append(room: 10) { _ throws(FillError) in throw FillError() }
    }
}
