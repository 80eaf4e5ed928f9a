// upb, which scripts/fetch-upb brings: nothing of it is kept here. One unit, as its own releases for PHP and Ruby are.
#if !__has_include(<upb/wire/decode.h>)
#error "upb is missing: run scripts/fetch-upb in the folder of Martlet"
#endif

#include <stdint.h>
#include <sys/random.h>

static uint64_t seeds[2];

// Before the first table is made.
void martlet_seed_tables(void) {
    if (getentropy(seeds, sizeof seeds) != 0) seeds[0] = (uint64_t)(uintptr_t)seeds;
    seeds[1] |= 1;
}

// The hash of an integer key, in the place of upb's own, which has no seed.
static uint32_t martlet_inthash(uint64_t key) {
    unsigned __int128 product = (unsigned __int128)(key ^ seeds[0]) * seeds[1];
    return (uint32_t)(product >> 64) ^ (uint32_t)(product >> 32);
}

#include <upb/base/status.c>
#include <upb/hash/common.c>
#include <upb/lex/atoi.c>
#include <upb/lex/strtod.c>
#include <upb/mem/alloc.c>
#include <upb/mem/arena.c>
#include <upb/message/accessors.c>
#include <upb/message/array.c>
#include <upb/message/compat.c>
#include <upb/message/copy.c>
#include <upb/message/map.c>
#include <upb/message/map_sorter.c>
#include <upb/message/message.c>
#include <upb/message/internal/extension.c>
#include <upb/message/internal/iterator.c>
#include <upb/message/internal/message.c>
#include <upb/mini_descriptor/build_enum.c>
#include <upb/mini_descriptor/decode.c>
#include <upb/mini_descriptor/link.c>
#include <upb/mini_descriptor/internal/base92.c>
#include <upb/mini_descriptor/internal/encode.c>
#include <upb/mini_table/compat.c>
#include <upb/mini_table/extension_registry.c>
#include <upb/mini_table/generated_registry.c>
#include <upb/mini_table/message.c>
#include <upb/mini_table/internal/message.c>
#include <google/protobuf/descriptor.upb.c>
#include <upb/reflection/def_pool.c>
#include <upb/reflection/def_type.c>
#include <upb/reflection/desc_state.c>
#include <upb/reflection/enum_def.c>
#include <upb/reflection/enum_reserved_range.c>
#include <upb/reflection/enum_value_def.c>
#include <upb/reflection/extension_range.c>
#include <upb/reflection/field_def.c>
#include <upb/reflection/file_def.c>
#include <upb/reflection/message.c>
#include <upb/reflection/message_def.c>
#include <upb/reflection/message_reserved_range.c>
#include <upb/reflection/method_def.c>
#include <upb/reflection/oneof_def.c>
#include <upb/reflection/service_def.c>
#include <upb/reflection/internal/def_builder.c>
#include <upb/reflection/internal/strdup2.c>
#include <utf8_range/utf8_range.c>
#include <upb/util/required_fields.c>
#include <upb/wire/byte_size.c>
#include <upb/wire/decode.c>
#include <upb/wire/encode.c>
#include <upb/wire/eps_copy_input_stream.c>
#include <upb/wire/reader.c>
#include <upb/wire/internal/decoder.c>
#include <upb/wire/decode_fast/cardinality.c>
#include <upb/wire/decode_fast/dispatch.c>
#include <upb/wire/decode_fast/field_fixed.c>
#include <upb/wire/decode_fast/field_message.c>
#include <upb/wire/decode_fast/field_string.c>
#include <upb/wire/decode_fast/field_varint.c>
#include <upb/wire/decode_fast/function_array.c>
#include <upb/wire/decode_fast/select.c>
