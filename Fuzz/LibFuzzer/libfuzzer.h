// What libFuzzer offers a program that has a `main` of its own; Swift's toolchain has the library without its header.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Runs libFuzzer by its command line, and returns the status to exit with.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *start, size_t count));
