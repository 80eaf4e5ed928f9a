private import Bytes
private import CLibFuzzer
private import Glibc

/// The fuzzers, by their names, which are those of the folders in Corpus and Failures.
private let fuzzers: [String: @Sendable (Span<UInt8>) -> Void] = [
    "requests": Requests.run,
    "chunks": Chunks.run,
    "responses": Responses.run,
    "envelopes": Envelopes.run,
    "heads": Heads.run,
    "trailers": Trailers.run,
    "codecs": Codecs.run,
    "configuration": ConfigurationFiles.run,
    "documents": Documents.run,
    "texts": Texts.run,
    "cookies": Cookies.run,
    "caches": Caches.run,
    "addresses": Addresses.run,
    "credentials": Credentials.run,
    "types": DescriptorSets.run,
    "messages": Messages.run,
    "reflection": Reflections.run,
    "http2-callers": Connections.callers,
    "http2-upstreams": Connections.upstreams,
]

/// The one that the variable `FUZZER` names.
private let chosen: @Sendable (Span<UInt8>) -> Void = {
    let name = unsafe getenv("FUZZER").map { unsafe String(cString: $0) } ?? ""
    guard let fuzzer = fuzzers[name] else {
        print("FUZZER names one of: \(fuzzers.keys.sorted().joined(separator: " "))")
        exit(2)
    }
    return fuzzer
}()

@main
enum Fuzz {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        let status = unsafe LLVMFuzzerRunDriver(&count, &arguments) { start, count in
            unsafe chosen(Span(_unsafeStart: start ?? UnsafePointer(bitPattern: 1)!, count: count))
            return 0
        }
        exit(status)
    }
}
