#include "oracle.h"

#include <sanitizer/allocator_interface.h>

size_t fuzz_allocated(void) { return __sanitizer_get_current_allocated_bytes(); }
