// The one translation unit with Catch2's main.
// Thread rule: single-threaded. Flow: linked by every C++ test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
