import Bytes
import HTTP
import HTTP2Kit

extension HTTP2Session {
    /// Has everything that is to be sent read, until there is nothing more.
    func flush(_ output: ByteQueue, into reader: FrameReader) {
        while true {
            fillOutput()
            guard !output.isEmpty else { return }
            reader.read(output.readable.array)
            output.removeAll()
            outputDrained()
        }
    }
}
