// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "own-interceptor",
    // In a repository of your own: .package(url: "https://git.example/martlet.git", branch: "main")
    dependencies: [.package(name: "martlet", path: "../..")],
    targets: [
        // Not `martlet`: the binary would be overwritten by that of the package it comes from.
        .executableTarget(name: "own-martlet", dependencies: [.product(name: "Proxy", package: "martlet")])
    ]
)
