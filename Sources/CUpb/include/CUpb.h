#ifndef MARTLET_CUPB_H
#define MARTLET_CUPB_H

// What Martlet asks of upb, as functions that keep its headers, and their macros, out of Swift. A pointer to a definition is good
// as long as the pool that it belongs to, a pointer to a value as long as the arena until it is emptied.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct martlet_text {
    const char *_Nullable bytes;
    size_t count;
} martlet_text;

// As upb has a value: the field's type says which it is.
typedef union martlet_value {
    bool boolean;
    float single;
    double real;
    int32_t int32;
    int64_t int64;
    uint32_t uint32;
    uint64_t uint64;
    void *_Nullable pointer; // a message, an array or a map
    martlet_text text;
} martlet_value;

// Where the source of upb is from.
const char *_Nonnull martlet_upb_version(void);

// MARK: Memory

// An arena that gives out at most `limit` bytes, the first 16 KiB of them its own; belongs to one thread at a time.
typedef struct martlet_arena martlet_arena;
martlet_arena *_Nullable martlet_arena_new(size_t limit);
void martlet_arena_empty(martlet_arena *_Nonnull arena);
// From now on at most so many bytes; to be called while the arena is empty.
void martlet_arena_set_limit(martlet_arena *_Nonnull arena, size_t limit);
void martlet_arena_free(martlet_arena *_Nonnull arena);
// Whether the limit was in the way since the arena was emptied.
bool martlet_arena_was_full(const martlet_arena *_Nonnull arena);
// Copies bytes into the arena; null if there is no room.
const char *_Nullable martlet_arena_copy(martlet_arena *_Nonnull arena, const void *_Nullable bytes, size_t count);

// MARK: Descriptor sets

// A FileDescriptorSet, read into the arena; null if it is none.
typedef struct martlet_set martlet_set;
const martlet_set *_Nullable martlet_set_read(const void *_Nullable bytes, size_t count, martlet_arena *_Nonnull arena);
size_t martlet_set_count(const martlet_set *_Nonnull set);
martlet_text martlet_set_name(const martlet_set *_Nonnull set, size_t file);
size_t martlet_set_dependency_count(const martlet_set *_Nonnull set, size_t file);
martlet_text martlet_set_dependency(const martlet_set *_Nonnull set, size_t file, size_t index);

// Whether two files say the same.
bool martlet_set_is_same(const martlet_set *_Nonnull set, size_t file, const martlet_set *_Nonnull other,
                         size_t other_file, martlet_arena *_Nonnull arena);

// upb makes its tables of descriptors when they are first used, and not for several threads: to be called once, before anything else
// about sets and pools.
void martlet_prepare(void);

typedef struct martlet_pool martlet_pool;
martlet_pool *_Nullable martlet_pool_new(void);
void martlet_pool_free(martlet_pool *_Nonnull pool);
// Adds one file of a set, whose dependencies the pool has; null with the words of upb if it cannot be.
const void *_Nullable martlet_pool_add(martlet_pool *_Nonnull pool, const martlet_set *_Nonnull set, size_t file,
                                       char *_Nonnull problem, size_t room);
const void *_Nullable martlet_pool_message(const martlet_pool *_Nonnull pool, const char *_Nullable name, size_t count);
const void *_Nullable martlet_pool_extension(const martlet_pool *_Nonnull pool, const char *_Nullable name, size_t count);

// MARK: Definitions

size_t martlet_file_message_count(const void *_Nonnull file);
const void *_Nonnull martlet_file_message(const void *_Nonnull file, size_t index);
size_t martlet_file_service_count(const void *_Nonnull file);
const void *_Nonnull martlet_file_service(const void *_Nonnull file, size_t index);

const char *_Nonnull martlet_service_name(const void *_Nonnull service);
size_t martlet_service_method_count(const void *_Nonnull service);
const void *_Nonnull martlet_service_method(const void *_Nonnull service, size_t index);

const char *_Nonnull martlet_method_name(const void *_Nonnull method);
const void *_Nonnull martlet_method_input(const void *_Nonnull method);
const void *_Nonnull martlet_method_output(const void *_Nonnull method);
// Whether the definition says that the method has no side effects.
bool martlet_method_has_no_side_effects(const void *_Nonnull method);
// The options, written into the arena; nothing if there is no room.
martlet_text martlet_method_options(const void *_Nonnull method, martlet_arena *_Nonnull arena);
bool martlet_method_client_streams(const void *_Nonnull method);
bool martlet_method_server_streams(const void *_Nonnull method);

// As `upb_WellKnown` has them.
enum martlet_well_known {
    MARTLET_NOT_WELL_KNOWN,
    MARTLET_ANY,
    MARTLET_FIELD_MASK,
    MARTLET_DURATION,
    MARTLET_TIMESTAMP,
    MARTLET_DOUBLE_VALUE,
    MARTLET_FLOAT_VALUE,
    MARTLET_INT64_VALUE,
    MARTLET_UINT64_VALUE,
    MARTLET_INT32_VALUE,
    MARTLET_UINT32_VALUE,
    MARTLET_STRING_VALUE,
    MARTLET_BYTES_VALUE,
    MARTLET_BOOL_VALUE,
    MARTLET_VALUE,
    MARTLET_LIST_VALUE,
    MARTLET_STRUCT,
};

const char *_Nonnull martlet_message_name(const void *_Nonnull definition);
int martlet_message_well_known(const void *_Nonnull definition);
bool martlet_message_is_entry(const void *_Nonnull definition);
bool martlet_message_has_extensions(const void *_Nonnull definition);
size_t martlet_message_field_count(const void *_Nonnull definition);
const void *_Nonnull martlet_message_field(const void *_Nonnull definition, size_t index);
size_t martlet_message_nested_count(const void *_Nonnull definition);
const void *_Nonnull martlet_message_nested(const void *_Nonnull definition, size_t index);
// By the name in JSON or that of the definition.
const void *_Nullable martlet_message_find(const void *_Nonnull definition, const char *_Nullable name, size_t count);

const char *_Nonnull martlet_field_name(const void *_Nonnull field);
const char *_Nonnull martlet_field_full_name(const void *_Nonnull field);
const char *_Nonnull martlet_field_json_name(const void *_Nonnull field);
const void *_Nonnull martlet_field_owner(const void *_Nonnull field);
// Where the definition of its message has the field.
size_t martlet_field_index(const void *_Nonnull field);
uint32_t martlet_field_number(const void *_Nonnull field);
// As a FieldDescriptorProto numbers them.
int martlet_field_type(const void *_Nonnull field);
bool martlet_field_is_repeated(const void *_Nonnull field);
bool martlet_field_is_map(const void *_Nonnull field);
bool martlet_field_is_extension(const void *_Nonnull field);
bool martlet_field_is_required(const void *_Nonnull field);
bool martlet_field_has_presence(const void *_Nonnull field);
const void *_Nullable martlet_field_oneof(const void *_Nonnull field);
const void *_Nullable martlet_field_message(const void *_Nonnull field);
const void *_Nullable martlet_field_enum(const void *_Nonnull field);

const char *_Nonnull martlet_enum_name(const void *_Nonnull definition);
bool martlet_enum_is_closed(const void *_Nonnull definition);
size_t martlet_enum_value_count(const void *_Nonnull definition);
// The name of a value, in the order of the definition.
const char *_Nonnull martlet_enum_value(const void *_Nonnull definition, size_t index);
const char *_Nullable martlet_enum_value_name(const void *_Nonnull definition, int32_t number);
bool martlet_enum_value_number(const void *_Nonnull definition, const char *_Nullable name, size_t count,
                               int32_t *_Nonnull number);

// MARK: Messages

// How reading or writing in the wire format ended: as `upb_DecodeStatus`.
enum martlet_status { MARTLET_OK, MARTLET_NO_MEMORY, MARTLET_MALFORMED, MARTLET_BAD_UTF8, MARTLET_TOO_DEEP };

void *_Nullable martlet_message_new(const void *_Nonnull definition, martlet_arena *_Nonnull arena);
// Reads a message that may be nested `depth` deep; its text and bytes stay where they are.
int martlet_message_read(void *_Nonnull message, const void *_Nonnull definition, const martlet_pool *_Nonnull pool,
                         const void *_Nullable bytes, size_t count, unsigned depth, martlet_arena *_Nonnull arena);
// Writes a message into the arena.
int martlet_message_write(const void *_Nonnull message, const void *_Nonnull definition, unsigned depth,
                          martlet_arena *_Nonnull arena, martlet_text *_Nonnull written);
// Writes the name of a required field that is missing, with the path to it, and its length; 0 if none is.
size_t martlet_message_missing(const void *_Nonnull message, const void *_Nonnull definition,
                               const martlet_pool *_Nonnull pool, char *_Nonnull text, size_t room);

bool martlet_message_has(const void *_Nonnull message, const void *_Nonnull field);
martlet_value martlet_message_get(const void *_Nonnull message, const void *_Nonnull field);
// Each false if the arena has no room.
bool martlet_message_set(void *_Nonnull message, const void *_Nonnull field, martlet_value value,
                         martlet_arena *_Nonnull arena);
// How many fields of a message its type does not have; those of messages within it do not count.
size_t martlet_message_unknown(const void *_Nonnull message);
void martlet_message_clear(void *_Nonnull message, const void *_Nonnull field);
// The message, array or map of a field, made if it is not there yet.
void *_Nullable martlet_message_make(void *_Nonnull message, const void *_Nonnull field, martlet_arena *_Nonnull arena);
// The next extension that is there; `position` begins with SIZE_MAX.
bool martlet_message_next_extension(const void *_Nonnull message, const void *_Nonnull definition,
                                    const martlet_pool *_Nonnull pool, const void *_Nullable *_Nonnull field,
                                    martlet_value *_Nonnull value, size_t *_Nonnull position);

size_t martlet_array_count(const void *_Nonnull array);
martlet_value martlet_array_get(const void *_Nonnull array, size_t index);
void martlet_array_set(void *_Nonnull array, size_t index, martlet_value value);
void martlet_array_remove(void *_Nonnull array, size_t index);
bool martlet_array_append(void *_Nonnull array, martlet_value value, martlet_arena *_Nonnull arena);

size_t martlet_map_count(const void *_Nonnull map);
// `position` begins with SIZE_MAX.
bool martlet_map_next(const void *_Nonnull map, martlet_value *_Nonnull key, martlet_value *_Nonnull value,
                      size_t *_Nonnull position);
// Whether a map has a key, and its value.
bool martlet_map_get(const void *_Nonnull map, martlet_value key, martlet_value *_Nullable value);
void martlet_map_remove(void *_Nonnull map, martlet_value key);
bool martlet_map_insert(void *_Nonnull map, martlet_value key, martlet_value value, martlet_arena *_Nonnull arena);

#endif
