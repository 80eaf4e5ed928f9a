import Testing

@testable import Types

@Suite struct PathTemplateTests {
    @Test(arguments: [
        ("/", "/"), ("/v1/things", "/v1/things"), ("/v1/", "/v1/"), ("/v1/*", "/v1/*"), ("/v1/**", "/v1/**"),
        ("/v1/{name}", "/v1/*"), ("/v1/{a.b}/x", "/v1/*/x"), ("/{name=shelves/*/books/*}", "/shelves/*/books/*"),
        ("/v1/{name=**}", "/v1/**"), ("/v1/{name=a/**}", "/v1/a/**"), ("/v1/{a}:stop", "/v1/*:stop"),
        ("/v1/a.b-c_d~", "/v1/a.b-c_d~"), ("/v1/%20", "/v1/%20"),
    ])
    func `templates that are valid`(_ text: String, _ shape: String) throws {
        let template = try #require(PathTemplate(text))
        let segments = template.segments.map { segment in
            switch segment {
            case .literal(let name): String(decoding: name, as: UTF8.self)
            case .one: "*"
            case .rest: "**"
            }
        }
        let verb = template.customVerb.map { ":" + String(decoding: $0, as: UTF8.self) } ?? ""
        #expect("/" + segments.joined(separator: "/") + verb == shape)
    }

    @Test(arguments: [
        "", "v1", "/v1//things", "//", "/v1/{", "/v1/{}", "/v1/{name", "/v1/{a..b}", "/v1/{a=}", "/v1/{a={b}}",
        "/v1/**/x", "/v1/{a=**}/x", "/v1/{a=**/x}", "/v1/a*", "/v1/***", "/v1/{a}b", "/v1/x:", "/v1/x:a/b", "/v1/x:a:b",
        "/v1?x", "/v1/a b", "/v1/ä", "/v1/{a=b/}", "/v1/{a}}",
    ])
    func `templates that are not`(_ text: String) {
        #expect(PathTemplate(text) == nil)
    }

    @Test func `variables know their segments`() throws {
        let template = try #require(PathTemplate("/v1/{a.b=x/*/y/**}"))
        #expect(template.variables == [PathTemplate.Variable(field: ["a", "b"], segments: 1..<5)])
    }
}
