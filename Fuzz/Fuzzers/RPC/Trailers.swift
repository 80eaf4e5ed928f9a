internal import Bytes
internal import Protocols

/// The lines of the frame that ends a gRPC-Web body.
enum Trailers {
    static func run(_ input: Span<UInt8>) {
        var walker = TrailerLines()
        var last = 0
        while let line = walker.next(in: input) {
            demand(!line.name.isEmpty, "a line has a name")
            demand(line.name.lowerBound >= last, "lines follow in order")
            demand(line.name.upperBound < line.value.lowerBound, "a value follows its name")
            demand(line.value.upperBound <= input.count, "a value lies in the lines")
            let value = input.extracting(line.value)
            demand(value.firstIndex(of: 0x0a) == nil, "a value has no line break")
            last = line.value.upperBound
        }
        let fields = TrailerLines.fields(of: input)
        for field in fields {
            demand(!field.name.contains { $0 < 0x20 || $0 == 0x3a }, "a name is without controls and colons")
            demand(!field.value.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }, "a value is without controls")
        }
        let lines = ByteQueue()
        lines.append(trailerLines: fields)
        let again = TrailerLines.fields(of: lines.readable)
        demandSame(again.map(\.name), fields.map(\.name), "names there and back")
        demandSame(again.map(\.value), fields.map(\.value), "values there and back")
    }
}
