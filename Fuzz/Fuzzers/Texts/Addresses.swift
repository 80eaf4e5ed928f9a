internal import Bytes
internal import Configuration
internal import Proxy
internal import Resolver

/// What tells the addresses of an upstream: responses of DNS servers with SRV records, and files.
enum Addresses {
    static func run(_ input: Span<UInt8>) {
        let bytes = input.array
        if case .success(let hosts) = AddressFile.hosts(bytes) {
            demand(!hosts.isEmpty && Set(hosts).count == hosts.count, "a file has each host once")
            let lines = Array(hosts.map { "\($0)\n" }.joined().utf8)
            demandSame((try? AddressFile.hosts(lines).get()) ?? [], hosts, "what is written is read again")
        }
        guard let service = try? ServiceRecords(bytes) else { return }
        demand(!service.records.isEmpty && 1...300 ~= service.timeToLive, "there are records, for a while")
        for record in service.records {
            demand(record.port > 0 && record.target.utf8.count <= 255, "a record leads somewhere")
            demand(!record.target.isEmpty && !record.target.hasPrefix("."), "a target is a name")
        }
    }
}
