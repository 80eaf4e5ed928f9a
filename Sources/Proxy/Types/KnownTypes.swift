internal import Configuration
internal import Events
package import Types

/// The types of messages that a configuration knows, and how they are written in JSON.
package struct KnownTypes: Sendable {
    /// The largest file with a descriptor set, in bytes.
    private static let limit = 16 << 20

    /// The services and messages.
    package let set: TypeSet
    /// How messages are written in JSON.
    package private(set) var form: JSONForm
    /// Whether members that no field has are left out of a request, and not an error.
    package private(set) var dropsUnknown: Bool
    /// The paths by which callers may use methods; none if they may not.
    package private(set) var restTable: RESTTable?
    /// The names of query parameters that such requests may have for others.
    private(set) var ignored: [String]
    /// The services whose paths callers may use.
    private var restServices: [String]
    /// What has been said of fields that they do not have.
    let unknownFields: UnknownFields
    /// The upstream whose types are fetched by reflection; none if the configuration names none.
    let reflected: String?
    /// Whether reflection has brought them.
    private(set) var hasReflected = false
    /// What the files hold; only where reflection adds to it.
    private let sets: [DescriptorSet]

    /// Reads the files that the settings name, and reports what is wrong with them; none if nothing is to be known.
    init?(_ settings: TypesSettings, into diagnostics: Diagnostics) {
        guard !settings.files.isEmpty || settings.reflection != nil else { return nil }
        var sets: [DescriptorSet] = []
        for file in settings.files {
            switch SmallFile.read(file.text, limit: Self.limit) {
            case .success(let bytes): sets.append(DescriptorSet(source: file.text, bytes: bytes))
            case .failure(let error):
                let advice = "write the path of a readable file of at most \(ByteCount.text(Self.limit))"
                diagnostics.report("cannot read the types in \(file.text): \(error.text); \(advice)", at: file.mark)
            }
        }
        guard sets.count == settings.files.count else { return nil }
        do throws(TypeSetError) {
            set = try TypeSet(sets)
        } catch {
            for problem in error.problems {
                let file = settings.files.first { $0.text == problem.source } ?? settings.files[0]
                diagnostics.report("\(file.text): \(problem.text)", at: file.mark)
            }
            return nil
        }
        var form = JSONForm()
        form.keepsNames = settings.json.keepsNames
        form.writesDefaults = settings.json.writesDefaults
        form.writesEnumNumbers = settings.json.writesEnumNumbers
        self.form = form
        dropsUnknown = settings.dropsUnknown
        ignored = settings.ignored
        restServices = settings.rest.map(\.text)
        unknownFields = UnknownFields()
        reflected = settings.reflection?.upstream.text
        self.sets = reflected == nil ? [] : sets
        restTable = Self.restTable(settings, set, into: diagnostics)
    }

    private init(_ other: KnownTypes, _ set: TypeSet) throws(TypeSetError) {
        self.set = set
        form = other.form
        dropsUnknown = other.dropsUnknown
        ignored = other.ignored
        restServices = other.restServices
        unknownFields = other.unknownFields
        reflected = other.reflected
        sets = other.sets
        hasReflected = true
        restTable = restServices.isEmpty ? nil : try RESTTable(set, services: restServices)
    }

    /// The paths of the services that the settings name, if they name any.
    private static func restTable(
        _ settings: TypesSettings,
        _ set: TypeSet,
        into diagnostics: Diagnostics
    ) -> RESTTable? {
        guard let first = settings.rest.first else { return nil }
        let known = set.services.map(\.name)
        // Reflection may bring a service that no file has.
        for service in settings.rest where settings.reflection == nil && !known.contains(service.text) {
            let name = Diagnostic.quote(service.text)
            diagnostics.report(
                "no service is named \(name); \(Suggestion.text(for: service.text, among: known))",
                at: service.mark
            )
        }
        do throws(TypeSetError) {
            let table = try RESTTable(set, services: settings.rest.map(\.text))
            for service in settings.rest where known.contains(service.text) && !table.has(service: service.text) {
                diagnostics.report(
                    "no method of \(service.text) has a path; add the option google.api.http to the methods",
                    at: service.mark
                )
            }
            return table
        } catch {
            for problem in error.problems { diagnostics.report(problem.text, at: first.mark) }
            return nil
        }
    }
}

/// Types from reflection, beside those from files.
extension KnownTypes {
    /// The upstream whose types are to come, and have not yet.
    var missing: String? { hasReflected ? nil : reflected }

    /// Whether paths are to come with them.
    var awaitsPaths: Bool { missing != nil && !restServices.isEmpty }

    /// The services whose paths callers may use, and that nobody knows.
    package var unknownRESTServices: [String] {
        let known = Set(set.services.map(\.name))
        return restServices.filter { !known.contains($0) }
    }

    /// The files of the descriptor sets, without their bytes.
    var files: [DescriptorFile] { sets.flatMap { DescriptorFile.files(of: $0) } }

    /// Whether both are made of the same files.
    func hasSameFiles(as other: KnownTypes) -> Bool {
        sets.elementsEqual(other.sets) { $0.source == $1.source && $0.bytes == $1.bytes }
    }

    /// The same with what reflection has brought; a file that is here already stays.
    ///
    /// - Throws: an error if they do not fit together.
    func adding(_ new: ReflectedFiles) throws(ReflectionError) -> KnownTypes {
        let known = Set(files.map(\.name))
        let added = new.files.filter { !known.contains($0.name) }
        let sets = added.isEmpty ? sets : sets + [DescriptorSet(source: "reflection", files: added)]
        do throws(TypeSetError) {
            return try KnownTypes(self, try TypeSet(sets))
        } catch {
            throw .types(error.problems.first?.text ?? "")
        }
    }

    /// The same types, with messages written as `other` says.
    func written(as other: KnownTypes) -> KnownTypes {
        var new = self
        new.form = other.form
        new.dropsUnknown = other.dropsUnknown
        new.ignored = other.ignored
        if other.restServices != restServices, let table = try? RESTTable(set, services: other.restServices) {
            (new.restServices, new.restTable) = (other.restServices, other.restServices.isEmpty ? nil : table)
        }
        return new
    }
}
