// swift-tools-version: 6.2
import PackageDescription

// Each target imports only from lower floors; scripts/check-floors holds it. See ARCHITECTURE.md.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

// What `scripts/sanitized` builds: sources as optimized as in a release, and with AddressSanitizer the fuzzers, which choose
// their next input by the branches that the last one took.
let sanitizer = Context.environment["MARTLET_SANITIZER"]
let sources: [SwiftSetting] =
    switch sanitizer {
    case nil: strict
    case "address": strict + [.unsafeFlags(["-O", "-assert-config", "Debug", "-sanitize=fuzzer"])]
    default: strict + [.unsafeFlags(["-O", "-assert-config", "Debug"])]
    }

func library(_ name: String, _ dependencies: [Target.Dependency] = [], embedding files: [String] = []) -> Target {
    let resources = files.map { Resource.embedInCode($0) }
    return .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: sources)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let floor0: [Target] = [
    .target(name: "CLinux"),
    .systemLibrary(name: "CLibevent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CPsl", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .target(
        name: "CUpb",
        cSettings: [
            // What scripts/fetch-upb brings.
            .headerSearchPath("../../.build/upb"),
            .headerSearchPath("../../.build/upb/upb/reflection/stage0"),
            .headerSearchPath("../../.build/upb/utf8_range"),
            .define("UPB_BOOTSTRAP_STAGE", to: "0"),
            .define("NDEBUG", .when(configuration: .release)),
        ]
    ),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
]

let floor1: [Target] = [
    library("Bytes"),
    library("Time", ["Bytes"]),
    library("Policy", ["Time", "Bytes"]),
    library("RPC", ["Time", "Bytes"]),
    library("Protocols", ["RPC", "Bytes"]),
    library("Configuration", ["Time", "Bytes"]),
    library("Telemetry", ["RPC", "Time", "Bytes"]),
]

let floor2: [Target] = [
    library("Events", ["CLibevent", "CLinux", "Configuration", "Time", "Bytes"]),
    library("TLS", ["COpenSSL", "Bytes"]),
    library("HTTP", ["CNghttp2", "Policy", "Time", "Bytes"]),
    library("Resolver", ["CAres", "Bytes"]),
    library("Documents", ["CYAML", "Configuration", "Bytes"]),
    library("Patterns", ["CPCRE2", "Bytes"]),
    library("PublicSuffixes", ["CPsl"]),
    library("Types", ["CUpb", "RPC", "Time", "Bytes"]),
    library("Compressors", ["CZlib", "CBrotli", "CZstd", "RPC", "Bytes"]),
]

let floor3: [Target] = [
    library("Caching", ["HTTP", "Time", "Bytes"]),
    library("Credentials", ["Events", "TLS", "Documents", "RPC", "Policy", "Configuration", "Time", "Bytes"]),
    library(
        "Proxy",
        [
            "Credentials", "Events", "TLS", "HTTP", "Resolver", "Documents", "Patterns", "Compressors", "Types",
            "Protocols", "RPC", "Policy", "Configuration", "PublicSuffixes", "Telemetry", "Time", "Bytes",
        ]
    ),
    // Interceptors are made of what the library offers everybody: what is `package` they do not see.
    .target(
        name: "Interceptors",
        dependencies: [
            "Proxy", "Caching", "Credentials", "Events", "TLS", "HTTP", "Documents", "Patterns", "Protocols", "RPC",
            "Policy", "Configuration", "Telemetry", "Time", "Bytes",
        ],
        packageAccess: false,
        swiftSettings: sources
    ),
]

let floor4: [Target] = [
    library(
        "Sidecar",
        [
            "Interceptors", "Proxy", "Credentials", "Documents", "Patterns", "Compressors", "Types", "Resolver",
            "Protocols", "Policy", "Events", "TLS", "HTTP", "RPC", "Telemetry", "Configuration", "PublicSuffixes",
            "Time", "Bytes",
        ],
        embedding: [
            "Dashboard/dashboard.html", "Dashboard/dashboard.css", "Dashboard/dashboard.js",
            "Dashboard/dashboard-call.js", "Dashboard/dashboard-metrics.js",
        ]
    ),
    .executableTarget(name: "martlet", dependencies: ["Sidecar"], swiftSettings: strict),
]

let testTargets: [Target] = [
    tests("BytesTests", ["Bytes"]),
    tests("TimeTests", ["Time", "Bytes"]),
    tests("PolicyTests", ["Policy", "PublicSuffixes", "Time", "Bytes"]),
    tests("ProtocolsTests", ["Protocols", "RPC", "Time", "Bytes"]),
    tests("ConfigurationTests", ["Configuration", "Documents", "Time", "Bytes"]),
    tests("TelemetryTests", ["Telemetry", "RPC", "Time", "Bytes"]),
    tests("TimeKit", []),
    tests("HTTP2Kit", ["CNghttp2"]),
    tests("HTTPTests", ["HTTP2Kit", "TimeKit", "HTTP", "Time", "Bytes"]),
    tests("EventsTests", ["Events", "Configuration", "Time", "Bytes"]),
    tests("TLSTests", ["TLS", "COpenSSL", "Bytes"]),
    tests("ResolverTests", ["Resolver", "Bytes"]),
    tests("PatternsTests", ["TimeKit", "Patterns", "Bytes"]),
    tests("TypesTests", ["TimeKit", "Types", "Bytes"]),
    tests("CompressorsTests", ["Compressors", "RPC", "Bytes"]),
    tests("CachingTests", ["Caching", "HTTP", "Time", "Bytes"]),
    tests("CredentialsTests", ["HTTP2Kit", "Credentials", "Documents", "Events", "TLS", "Time", "Bytes"]),
    tests(
        "ProxyTests",
        [
            "HTTP2Kit", "TimeKit", "Interceptors", "Proxy", "Caching", "Credentials", "Events", "TLS", "HTTP",
            "Resolver", "Documents", "Compressors", "Types", "Configuration", "Protocols", "RPC", "Policy",
            "Telemetry", "Time", "Bytes",
        ]
    ),
    tests(
        "SidecarTests",
        [
            "Sidecar", "Interceptors", "Proxy", "Credentials", "Documents", "Events", "HTTP", "Configuration",
            "Telemetry", "Time", "Bytes",
        ]
    ),
]

// What `make bench-chain` measures: Martlet with one kind more.
let benchmarks: [Target] = [
    .executableTarget(
        name: "chain-bench",
        dependencies: ["Sidecar", "Proxy"],
        path: "Benchmarks/chain/Look",
        swiftSettings: strict
    )
]

// What `make fuzz` runs.
let fuzzers: [Target] =
    sanitizer != "address"
    ? []
    : [
        .systemLibrary(name: "CLibFuzzer", path: "Fuzz/LibFuzzer"),
        .target(
            name: "CLlhttp",
            path: "Fuzz/Oracle",
            cSettings: [
                .define("LLHTTP_STRICT_MODE", to: "1"),
                .headerSearchPath("../../.build/llhttp/usr/share"),
                .headerSearchPath("../../.build/llhttp/usr/share/include/llhttp"),
            ]
        ),
        .executableTarget(
            name: "martlet-fuzz",
            dependencies: [
                "CLibFuzzer", "CLlhttp", "Interceptors", "Proxy", "Caching", "Credentials", "Documents", "HTTP",
                "Protocols",
                "RPC", "Policy", "PublicSuffixes", "Configuration", "Events", "Resolver", "Types", "Time", "Bytes",
            ],
            path: "Fuzz/Fuzzers",
            swiftSettings: sources,
            linkerSettings: [
                .unsafeFlags([Context.environment["MARTLET_LIBFUZZER"] ?? ""]), .linkedLibrary("stdc++"),
            ]
        ),
    ]

let package = Package(
    name: "martlet",
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .library(
            name: "Proxy",
            targets: [
                "Proxy", "Sidecar", "Credentials", "Events", "TLS", "HTTP", "Resolver", "Documents", "Patterns",
                "Types", "Protocols", "RPC", "Policy", "Configuration", "Telemetry", "Time", "Bytes",
            ]
        ),
    ],
    targets: floor0 + floor1 + floor2 + floor3 + floor4 + benchmarks + fuzzers + testTargets,
    swiftLanguageModes: [.v6]
)
