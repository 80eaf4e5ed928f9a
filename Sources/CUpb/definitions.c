#include "CUpb.h"

#include <stdio.h>
#include <string.h>
#include <upb/reflection/def.h>
#include <version.h>

#include "arena.h"

const char *martlet_upb_version(void) { return MARTLET_UPB_VERSION; }

// MARK: Descriptor sets

static const google_protobuf_FileDescriptorProto *file_of(const martlet_set *set, size_t index) {
    size_t count;
    return google_protobuf_FileDescriptorSet_file((const google_protobuf_FileDescriptorSet *)set, &count)[index];
}

const martlet_set *martlet_set_read(const void *bytes, size_t count, martlet_arena *arena) {
    return (const martlet_set *)google_protobuf_FileDescriptorSet_parse(bytes, count, martlet_arena_inside(arena));
}

size_t martlet_set_count(const martlet_set *set) {
    size_t count;
    google_protobuf_FileDescriptorSet_file((const google_protobuf_FileDescriptorSet *)set, &count);
    return count;
}

martlet_text martlet_set_name(const martlet_set *set, size_t file) {
    upb_StringView name = google_protobuf_FileDescriptorProto_name(file_of(set, file));
    return (martlet_text){name.data, name.size};
}

size_t martlet_set_dependency_count(const martlet_set *set, size_t file) {
    size_t count;
    google_protobuf_FileDescriptorProto_dependency(file_of(set, file), &count);
    return count;
}

martlet_text martlet_set_dependency(const martlet_set *set, size_t file, size_t index) {
    size_t count;
    upb_StringView name = google_protobuf_FileDescriptorProto_dependency(file_of(set, file), &count)[index];
    return (martlet_text){name.data, name.size};
}

bool martlet_set_is_same(const martlet_set *set, size_t file, const martlet_set *other, size_t other_file,
                         martlet_arena *arena) {
    size_t count, other_count;
    upb_Arena *inside = martlet_arena_inside(arena);
    const char *bytes = google_protobuf_FileDescriptorProto_serialize(file_of(set, file), inside, &count);
    const char *others = google_protobuf_FileDescriptorProto_serialize(file_of(other, other_file), inside, &other_count);
    return bytes && others && count == other_count && memcmp(bytes, others, count) == 0;
}

void martlet_prepare(void) {
    martlet_seed_tables();
    upb_Arena *arena = upb_Arena_New();
    google_protobuf_FileDescriptorSet_new(arena);
    google_protobuf_FeatureSetDefaults_new(arena);
    upb_Arena_Free(arena);
}

martlet_pool *martlet_pool_new(void) { return (martlet_pool *)upb_DefPool_New(); }

void martlet_pool_free(martlet_pool *pool) { upb_DefPool_Free((upb_DefPool *)pool); }

const void *martlet_pool_add(martlet_pool *pool, const martlet_set *set, size_t file, char *problem, size_t room) {
    upb_Status status;
    upb_Status_Clear(&status);
    const void *added = upb_DefPool_AddFile((upb_DefPool *)pool, file_of(set, file), &status);
    if (!added) snprintf(problem, room, "%s", upb_Status_ErrorMessage(&status));
    return added;
}

const void *martlet_pool_message(const martlet_pool *pool, const char *name, size_t count) {
    return upb_DefPool_FindMessageByNameWithSize((const upb_DefPool *)pool, name, count);
}

const void *martlet_pool_extension(const martlet_pool *pool, const char *name, size_t count) {
    return upb_DefPool_FindExtensionByNameWithSize((const upb_DefPool *)pool, name, count);
}

// MARK: Definitions

size_t martlet_file_message_count(const void *file) { return upb_FileDef_TopLevelMessageCount(file); }
const void *martlet_file_message(const void *file, size_t index) { return upb_FileDef_TopLevelMessage(file, index); }
size_t martlet_file_service_count(const void *file) { return upb_FileDef_ServiceCount(file); }
const void *martlet_file_service(const void *file, size_t index) { return upb_FileDef_Service(file, index); }

const char *martlet_service_name(const void *service) { return upb_ServiceDef_FullName(service); }
size_t martlet_service_method_count(const void *service) { return upb_ServiceDef_MethodCount(service); }
const void *martlet_service_method(const void *service, size_t index) { return upb_ServiceDef_Method(service, index); }

const char *martlet_method_name(const void *method) { return upb_MethodDef_Name(method); }
const void *martlet_method_input(const void *method) { return upb_MethodDef_InputType(method); }
const void *martlet_method_output(const void *method) { return upb_MethodDef_OutputType(method); }

bool martlet_method_has_no_side_effects(const void *method) {
    return google_protobuf_MethodOptions_idempotency_level(upb_MethodDef_Options(method)) ==
           google_protobuf_MethodOptions_NO_SIDE_EFFECTS;
}

martlet_text martlet_method_options(const void *method, martlet_arena *arena) {
    martlet_text options = {NULL, 0};
    options.bytes = google_protobuf_MethodOptions_serialize(upb_MethodDef_Options(method), martlet_arena_inside(arena),
                                                            &options.count);
    return options;
}

bool martlet_method_client_streams(const void *method) { return upb_MethodDef_ClientStreaming(method); }
bool martlet_method_server_streams(const void *method) { return upb_MethodDef_ServerStreaming(method); }

_Static_assert((int)MARTLET_ANY == (int)kUpb_WellKnown_Any && (int)MARTLET_STRUCT == (int)kUpb_WellKnown_Struct,
               "the kinds of well-known types are those of upb");

const char *martlet_message_name(const void *definition) { return upb_MessageDef_FullName(definition); }
int martlet_message_well_known(const void *definition) { return upb_MessageDef_WellKnownType(definition); }
bool martlet_message_is_entry(const void *definition) { return upb_MessageDef_IsMapEntry(definition); }
bool martlet_message_has_extensions(const void *definition) { return upb_MessageDef_ExtensionRangeCount(definition) > 0; }
size_t martlet_message_field_count(const void *definition) { return upb_MessageDef_FieldCount(definition); }
const void *martlet_message_field(const void *definition, size_t index) { return upb_MessageDef_Field(definition, index); }
size_t martlet_message_nested_count(const void *definition) { return upb_MessageDef_NestedMessageCount(definition); }

const void *martlet_message_nested(const void *definition, size_t index) {
    return upb_MessageDef_NestedMessage(definition, index);
}

const void *martlet_message_find(const void *definition, const char *name, size_t count) {
    return upb_MessageDef_FindByJsonNameWithSize(definition, name, count);
}

const char *martlet_field_name(const void *field) { return upb_FieldDef_Name(field); }
const char *martlet_field_full_name(const void *field) { return upb_FieldDef_FullName(field); }
const char *martlet_field_json_name(const void *field) { return upb_FieldDef_JsonName(field); }
const void *martlet_field_owner(const void *field) { return upb_FieldDef_ContainingType(field); }
size_t martlet_field_index(const void *field) { return upb_FieldDef_Index(field); }
uint32_t martlet_field_number(const void *field) { return upb_FieldDef_Number(field); }
int martlet_field_type(const void *field) { return upb_FieldDef_Type(field); }
bool martlet_field_is_repeated(const void *field) { return upb_FieldDef_IsRepeated(field); }
bool martlet_field_is_map(const void *field) { return upb_FieldDef_IsMap(field); }
bool martlet_field_is_extension(const void *field) { return upb_FieldDef_IsExtension(field); }
bool martlet_field_is_required(const void *field) { return upb_FieldDef_IsRequired(field); }
bool martlet_field_has_presence(const void *field) { return upb_FieldDef_HasPresence(field); }
const void *martlet_field_oneof(const void *field) { return upb_FieldDef_RealContainingOneof(field); }
const void *martlet_field_message(const void *field) { return upb_FieldDef_MessageSubDef(field); }
const void *martlet_field_enum(const void *field) { return upb_FieldDef_EnumSubDef(field); }

const char *martlet_enum_name(const void *definition) { return upb_EnumDef_FullName(definition); }
bool martlet_enum_is_closed(const void *definition) { return upb_EnumDef_IsClosed(definition); }

size_t martlet_enum_value_count(const void *definition) { return (size_t)upb_EnumDef_ValueCount(definition); }

const char *martlet_enum_value(const void *definition, size_t index) {
    return upb_EnumValueDef_Name(upb_EnumDef_Value(definition, (int)index));
}

const char *martlet_enum_value_name(const void *definition, int32_t number) {
    const upb_EnumValueDef *value = upb_EnumDef_FindValueByNumber(definition, number);
    return value ? upb_EnumValueDef_Name(value) : NULL;
}

bool martlet_enum_value_number(const void *definition, const char *name, size_t count, int32_t *number) {
    const upb_EnumValueDef *value = upb_EnumDef_FindValueByNameWithSize(definition, name, count);
    if (value) *number = upb_EnumValueDef_Number(value);
    return value != NULL;
}
