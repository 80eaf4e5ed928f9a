#include "CUpb.h"

#include <stdlib.h>
#include <string.h>
#include <upb/message/array.h>
#include <upb/message/map.h>
#include <upb/message/message.h>
#include <upb/reflection/def.h>
#include <upb/reflection/message.h>
#include <upb/util/required_fields.h>
#include <upb/wire/decode.h>
#include <upb/wire/encode.h>

#include "arena.h"

_Static_assert(sizeof(martlet_value) == sizeof(upb_MessageValue), "a value is as upb has it");
_Static_assert((int)MARTLET_TOO_DEEP == (int)kUpb_DecodeStatus_MaxDepthExceeded, "so is the end of reading");

static martlet_value from_upb(upb_MessageValue value) {
    martlet_value same;
    memcpy(&same, &value, sizeof same);
    return same;
}

static upb_MessageValue to_upb(martlet_value value) {
    upb_MessageValue same;
    memcpy(&same, &value, sizeof same);
    return same;
}

void *martlet_message_new(const void *definition, martlet_arena *arena) {
    return upb_Message_New(upb_MessageDef_MiniTable(definition), martlet_arena_inside(arena));
}

int martlet_message_read(void *message, const void *definition, const martlet_pool *pool, const void *bytes, size_t count,
                         unsigned depth, martlet_arena *arena) {
    int options = kUpb_DecodeOption_AliasString | kUpb_DecodeOption_AlwaysValidateUtf8 | upb_DecodeOptions_MaxDepth(depth);
    return upb_Decode(bytes, count, message, upb_MessageDef_MiniTable(definition),
                      upb_DefPool_ExtensionRegistry((const upb_DefPool *)pool), options, martlet_arena_inside(arena));
}

int martlet_message_write(const void *message, const void *definition, unsigned depth, martlet_arena *arena,
                          martlet_text *written) {
    char *bytes;
    size_t count;
    int options = kUpb_EncodeOption_Deterministic | upb_EncodeOptions_MaxDepth(depth);
    upb_EncodeStatus status = upb_Encode(message, upb_MessageDef_MiniTable(definition), options, martlet_arena_inside(arena),
                                         &bytes, &count);
    if (status == kUpb_EncodeStatus_MaxDepthExceeded) return MARTLET_TOO_DEEP;
    if (status != kUpb_EncodeStatus_Ok) return MARTLET_NO_MEMORY;
    *written = (martlet_text){bytes, count};
    return MARTLET_OK;
}

size_t martlet_message_missing(const void *message, const void *definition, const martlet_pool *pool, char *text, size_t room) {
    upb_FieldPathEntry *fields = NULL;
    if (!upb_util_HasUnsetRequired(message, definition, (const upb_DefPool *)pool, &fields)) return 0;
    upb_FieldPathEntry *first = fields;
    size_t count = first ? upb_FieldPath_ToText(&first, text, room) : 0;
    free(fields);
    return count < room ? count : room - 1;
}

bool martlet_message_has(const void *message, const void *field) { return upb_Message_HasFieldByDef(message, field); }

martlet_value martlet_message_get(const void *message, const void *field) {
    return from_upb(upb_Message_GetFieldByDef(message, field));
}

bool martlet_message_set(void *message, const void *field, martlet_value value, martlet_arena *arena) {
    return upb_Message_SetFieldByDef(message, field, to_upb(value), martlet_arena_inside(arena));
}

static const char *skip_varint(const char *at, const char *end, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        unsigned char byte = (unsigned char)*at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return at;
    }
    return end;
}

// The fields of a piece of the wire format, which has been read already; a group is one of them.
static size_t count_fields(const char *at, const char *end) {
    size_t count = 0, depth = 0;
    while (at < end) {
        uint64_t tag, length = 0;
        at = skip_varint(at, end, &tag);
        unsigned type = tag & 7;
        if (depth == 0 && type != 4) count++;
        switch (type) {
            case 0: at = skip_varint(at, end, &length); continue;
            case 1: length = 8; break;
            case 2: at = skip_varint(at, end, &length); break;
            case 3: depth++; break;
            case 4: depth -= depth > 0; break;
            case 5: length = 4; break;
            default: return count;
        }
        if (length > (uint64_t)(end - at)) return count;
        at += length;
    }
    return count;
}

size_t martlet_message_unknown(const void *message) {
    size_t count = 0;
    uintptr_t position = kUpb_Message_UnknownBegin;
    upb_StringView piece;
    while (upb_Message_NextUnknown(message, &piece, &position)) count += count_fields(piece.data, piece.data + piece.size);
    return count;
}

void martlet_message_clear(void *message, const void *field) { upb_Message_ClearFieldByDef(message, field); }

void *martlet_message_make(void *message, const void *field, martlet_arena *arena) {
    return upb_Message_Mutable(message, field, martlet_arena_inside(arena)).msg;
}

bool martlet_message_next_extension(const void *message, const void *definition, const martlet_pool *pool,
                                    const void **field, martlet_value *value, size_t *position) {
    const upb_FieldDef *found;
    upb_MessageValue read;
    while (upb_Message_Next(message, definition, (const upb_DefPool *)pool, &found, &read, position)) {
        if (!upb_FieldDef_IsExtension(found)) continue;
        *field = found;
        *value = from_upb(read);
        return true;
    }
    return false;
}

size_t martlet_array_count(const void *array) { return upb_Array_Size(array); }
martlet_value martlet_array_get(const void *array, size_t index) { return from_upb(upb_Array_Get(array, index)); }

void martlet_array_set(void *array, size_t index, martlet_value value) { upb_Array_Set(array, index, to_upb(value)); }
void martlet_array_remove(void *array, size_t index) { upb_Array_Delete(array, index, 1); }

bool martlet_array_append(void *array, martlet_value value, martlet_arena *arena) {
    return upb_Array_Append(array, to_upb(value), martlet_arena_inside(arena));
}

size_t martlet_map_count(const void *map) { return upb_Map_Size(map); }

bool martlet_map_next(const void *map, martlet_value *key, martlet_value *value, size_t *position) {
    upb_MessageValue found[2];
    if (!upb_Map_Next(map, &found[0], &found[1], position)) return false;
    *key = from_upb(found[0]);
    *value = from_upb(found[1]);
    return true;
}

bool martlet_map_get(const void *map, martlet_value key, martlet_value *value) {
    upb_MessageValue found;
    if (!upb_Map_Get(map, to_upb(key), &found)) return false;
    if (value) *value = from_upb(found);
    return true;
}

void martlet_map_remove(void *map, martlet_value key) { upb_Map_Delete(map, to_upb(key), NULL); }

bool martlet_map_insert(void *map, martlet_value key, martlet_value value, martlet_arena *arena) {
    return upb_Map_Insert(map, to_upb(key), to_upb(value), martlet_arena_inside(arena)) != kUpb_MapInsertStatus_OutOfMemory;
}
