import Configuration
import Documents
import Testing

@testable import Interceptors

/// Rules that are found by the value that they ask for.
@Suite struct MockRuleListTests {
    private static func rules(_ texts: [String]) -> [MockRule] {
        let diagnostics = Diagnostics()
        let rules = texts.enumerated().compactMap { index, text in
            YAML.parse(Array(text.utf8), into: diagnostics).map { node in
                MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: index)
            }
        }
        #expect(diagnostics.isEmpty)
        return rules
    }

    @Test func `rules that ask for different values in one place are a table`() {
        let rules = Self.rules((0..<1000).map { "{when: {json: {/id: \($0)}}}" })
        #expect(rules[7].equality?.key == Array("7".utf8))
        let list = MockRuleList(Array(rules.indices), of: rules)
        #expect(list.isIndexed)
    }

    @Test(
        arguments: [
            "{when: {method: Get, json: {/id: 1}}}", "{when: {url: /a, json: {/id: 1}}}",
            "{when: {json: {/id: {above: 1}}}}", "{when: {json: {/id: [1]}}}", "{}",
        ]
    )
    func `rules that ask for something else are not`(rule: String) {
        let rules = Self.rules(Array(repeating: rule, count: 20))
        #expect(!MockRuleList(Array(rules.indices), of: rules).isIndexed)
    }
}
