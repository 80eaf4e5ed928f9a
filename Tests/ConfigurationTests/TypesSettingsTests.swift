import Configuration
import Testing
import Time

/// Where types come from.
struct TypesSettingsTests {
    private func reading(_ types: String, url: String = "h2c://a", more: String = "") -> Reading {
        Reading(
            """
            listen: 127.0.0.1:1
            upstreams: {orders: {url: "\(url)"\(more)}, users: {url: "h2c://b"}}
            routes: [{upstream: orders}]
            types: \(types)
            """
        )
    }

    @Test func `reflection has an upstream, and a refresh of five minutes`() {
        let reading = reading("{reflection: {upstream: orders}}")
        #expect(reading.errors == [])
        #expect(reading.settings.types.reflection?.upstream.text == "orders")
        #expect(reading.settings.types.reflection?.refresh == 300 * .second)
        let short = self.reading("{reflection: orders, files: [/a]}").settings.types
        #expect(short.reflection?.upstream.text == "orders" && short.files.count == 1)
        #expect(self.reading("{files: [/a]}").settings.types.reflection == nil)
    }

    @Test func `an upstream in TLS, or of many protocols, can be asked`() {
        #expect(reading("{reflection: orders}", url: "https://a").errors == [])
        #expect(reading("{reflection: orders}", url: "unix+h2c:/a").errors == [])
        #expect(reading("{reflection: orders}", more: ", speaks: [connect, grpc]").errors == [])
    }

    @Test(arguments: ["1s", "24h", "90s"])
    func `a refresh may be a second to a day`(_ refresh: String) {
        #expect(reading("{reflection: {upstream: orders, refresh: \(refresh)}}").errors == [])
    }

    @Test(arguments: ["999ms", "25h", "none"])
    func `any other refresh is an error`(_ refresh: String) {
        let errors = reading("{reflection: {upstream: orders, refresh: \(refresh)}}").errors
        #expect(errors.count == 1)
        let error = "\"refresh\" is out of range; write a duration from 1s to 24h"
        #expect(errors.first?.hasSuffix(error) == true, "\(errors)")
    }

    @Test(arguments: [
        ("{reflection: oders}", "h2c://a", "", "no upstream is named \"oders\"; did you mean \"orders\"?"),
        (
            "{reflection: {refresh: 1m}}", "h2c://a", "",
            "\"upstream\" is missing; add a string, for example upstream: orders"
        ),
        (
            "{reflection: orders}", "http://a", "",
            "reflection needs gRPC, but http://a:80 is HTTP/1.1; write an h2c:// or https:// URL for orders"
        ),
        (
            "{reflection: orders}", "h2c://a", ", speaks: connect",
            "reflection needs gRPC, but the upstream \"orders\" does not speak it; add grpc to its \"speaks\""
        ),
    ])
    func `an upstream that cannot be asked is an error`(_ types: String, _ url: String, _ more: String, _ error: String)
    {
        let errors = reading(types, url: url, more: more).errors
        #expect(errors.count == 1, "\(errors)")
        #expect(errors.first?.hasSuffix(": " + error) == true, "\(errors)")
    }

    @Test func `codecs need types of either origin`() {
        #expect(reading("{reflection: orders}", more: ", speaks: grpc, codecs: [proto]").errors == [])
    }
}
