import Configuration
import Documents
import Testing

@testable import Interceptors
@testable import Proxy

/// What may depend on the caller before and behind a cache.
@Suite struct CallerDependenceTests {
    private func problems(_ chain: String, key: String = "") -> [String] {
        let diagnostics = Diagnostics()
        let cache = key.isEmpty ? "{cache: c}" : "{cache: {in: c, key: '\(key)'}}"
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: http://127.0.0.1:9000
            caches: {c: {}}
            interceptors: [\(chain.replacing("CACHE", with: cache))]
            """
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.sorted.map(\.message)
    }

    @Test(arguments: ["request", "response", "trailers"], ["{header:x-tenant}", "{peer.uid}", "{call.id}", "a"])
    func `only what is written into requests must be in the key`(_ section: String, _ template: String) {
        let rule = "{headers: {\(section): {set: {x-a: '\(template)'}}}}"
        let isOfCaller = template.hasPrefix("{header") || template.hasPrefix("{peer")
        #expect(problems("\(rule), CACHE").isEmpty == (section != "request" || !isOfCaller))
        let behind = problems("CACHE, \(rule)")
        #expect(behind.isEmpty == !isOfCaller, "\(behind)")
        // Advice is given only if it helps.
        #expect(behind.allSatisfy { $0.contains("move \"headers\" before it") == (section != "request") }, "\(behind)")
        #expect(problems("CACHE, \(rule)", key: template).isEmpty || !isOfCaller)
    }

    @Test(arguments: [
        ("when: {header: {x-tenant: a}}, headers: {request: {set: {x-a: '1'}}}", false),
        ("when: {header: {x-tenant: a}}, headers: {request: {remove: [x-a]}}", false),
        ("when: {header: {x-tenant: a}}, headers: {request: {add: {x-a: '1'}}}", false),
        ("when: {peer: {uid: 0}}, headers: {request: {set: {x-a: '1'}}}", false),
        ("when: {header: {x-tenant: a}}, headers: {request: {set: {x-a: '1'}}, response: {set: {x-b: '1'}}}", false),
        ("when: {header: {x-tenant: a}}, headers: {response: {set: {x-a: '1'}}}", true),
        ("when: {header: {x-tenant: a}}, headers: {trailers: {set: {x-a: '1'}}}", true),
        ("when: {header: {x-tenant: a}}, headers: {request: {set: {authorization: b}}}", true),
        ("when: {header: {x-tenant: a}}, headers: {request: {remove: [cookie]}}", true),
        ("when: {path: /a}, headers: {request: {set: {x-a: '1'}}}", true),
        ("when: {method: Get}, headers: {request: {set: {x-a: '1'}}}", true),
        ("headers: {request: {set: {x-a: '1'}}}", true),
    ])
    func `a condition on the caller counts as far as it decides what requests have`(_ item: String, _ isValid: Bool) {
        #expect(problems("{\(item)}, CACHE").isEmpty == isValid, "\(problems("{\(item)}, CACHE"))")
        let key = item.contains("peer") ? "{peer.uid}" : "{header:x-tenant}"
        #expect(problems("{\(item)}, CACHE", key: key).isEmpty)
    }
}
