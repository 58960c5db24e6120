# Libraries from Debian; a missing one is one line that names its package.
function(mortise_need what package)
  if(NOT ${what})
    message(FATAL_ERROR "mortise: ${package} is missing: apt-get install ${package}")
  endif()
endfunction()

find_package(PkgConfig QUIET)
mortise_need(PKG_CONFIG_FOUND pkg-config)
find_package(Threads REQUIRED)

# mortise_find_header(VARIABLE header package): a header-only library.
function(mortise_find_header variable header package)
  find_path(${variable} ${header})
  mortise_need(${variable} ${package})
endfunction()
mortise_find_header(MORTISE_EXPECTED_INCLUDE tl/expected.hpp libexpected-dev)
mortise_find_header(MORTISE_BOOST_INCLUDE boost/dll/shared_library.hpp libboost1.81-dev)
mortise_find_header(MORTISE_JSON_INCLUDE nlohmann/json.hpp nlohmann-json3-dev)
mortise_find_header(MORTISE_CLI_INCLUDE CLI/CLI.hpp libcli11-dev)

# mortise_find_library(name pkg-config-module package): makes the imported target PkgConfig::name.
macro(mortise_find_library name module package)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  mortise_need(${name}_FOUND ${package})
endmacro()
mortise_find_library(TOMLPP tomlplusplus libtomlplusplus-dev)
mortise_find_library(SPDLOG spdlog libspdlog-dev)
mortise_find_library(FMT fmt libfmt-dev)
mortise_find_library(PCRE2 libpcre2-8 libpcre2-dev)
mortise_find_library(UTF8PROC libutf8proc libutf8proc-dev)
mortise_find_library(EDIT libedit libedit-dev)
mortise_find_library(SIMDJSON simdjson libsimdjson-dev)
