import Testing
import Types

/// Which places messages of a type can have.
struct MessagePlaceTests {
    private static let types: TypeSet = {
        let known = Schema("k.proto", package: "google.protobuf")
            .message("Any", [Schema.field("type_url", 1, .string), Schema.field("value", 2, .bytes)])
            .message("Timestamp", [Schema.field("seconds", 1, .int64), Schema.field("nanos", 2, .int32)])
            .message("StringValue", [Schema.field("value", 1, .string)])
        let own = Schema("m.proto", package: "m", imports: ["k.proto"])
            .message("Line", [Schema.field("unit_price", 1, .int64)])
            .map("Labels", [Schema.field("key", 1, .string), Schema.field("value", 2, .message, type: "m.Line")])
            .message(
                "Order",
                [
                    Schema.field("id", 1, .string),
                    Schema.field("placed_at", 2, .message, type: "google.protobuf.Timestamp"),
                    Schema.field("lines", 3, .message, type: "m.Line", label: 3),
                    Schema.field("labels", 4, .message, type: "m.Labels"),
                    Schema.field("detail", 5, .message, type: "google.protobuf.Any"),
                    Schema.field("note", 6, .message, type: "google.protobuf.StringValue"),
                    Schema.field("tags", 7, .string, label: 3),
                ]
            )
        do throws(TypeSetError) {
            return try TypeSet([Schema.set([known, own])])
        } catch {
            fatalError("\(error.problems)")
        }
    }()

    private func order() -> MessageType { Self.types.message(named: "m.Order")! }

    @Test(arguments: [
        [], ["id"], ["placedAt"], ["lines"], ["lines", "*"], ["lines", "0", "unitPrice"], ["labels", "map", "any key"],
        ["labels", "map", "*", "unitPrice"], ["detail", "@type"], ["detail", "a", "b"], ["note"], ["tags", "3"],
    ])
    func `a message can have a place that its type has`(_ tokens: [String]) {
        #expect(order().hasPlace(tokens, .read))
        #expect(order().hasPlace(tokens, .changed))
    }

    @Test(arguments: [
        ["ID"], [""], ["id", "x"], ["placedAt", "seconds"], ["lines", "unitPrice"], ["lines", "0", "price"],
        ["labels", "a"], ["labels", "map", "a", "b"], ["note", "value"], ["tags", "first"], ["tags", "0", "x"], ["*"],
    ])
    func `a message cannot have a place that its type lacks`(_ tokens: [String]) {
        #expect(!order().hasPlace(tokens, .read))
        #expect(!order().hasPlace(tokens, .changed))
    }

    @Test func `a change names a field as the definition does, and JSON does not`() {
        #expect(order().hasPlace(["placed_at"], .changed))
        #expect(!order().hasPlace(["placed_at"], .read))
        #expect(order().hasPlace(["lines", "*", "unit_price"], .changed))
    }

    @Test func `a place that may have been meant has the names of JSON`() {
        let guesses: [[String]: [String]?] = [
            ["placed_at"]: ["placedAt"], ["lines", "2", "unitprice"]: ["lines", "2", "unitPrice"],
            ["line", "2", "unit_price"]: ["lines", "2", "unitPrice"], ["id", "x"]: nil, ["lines", "x"]: nil,
            ["zzz"]: nil,
        ]
        for (tokens, expected) in guesses {
            let guess = order().nearestPlace(tokens) { name, known in
                known.first { $0.lowercased() == name || name + "s" == $0 }
            }
            #expect(guess == expected, "\(tokens)")
        }
    }
}
