# Thread rule: none. Flow: included by the top CMakeLists.txt, and by the installed package for plugins out of tree.
#
# mortise_add_plugin(<target> KIND kind NAME name SOURCES plugin.cc... [CORE work.cc...] [LIBS library...] [FOLDER dir])
#
# Builds one plugin, `mortise-<kind>-<name>.so`. CORE sources become the static library `<target>_core`, so that
# tests and fuzz targets can link the work without dlopen. Everything but the entry symbol is hidden.
set(MORTISE_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map)

function(mortise_add_plugin target)
  cmake_parse_arguments(P "" "KIND;NAME;FOLDER" "SOURCES;CORE;LIBS" ${ARGN})
  set(core "")
  if(P_CORE)
    add_library(${target}_core STATIC ${P_CORE})
    target_link_libraries(${target}_core PUBLIC Mortise::sdk ${P_LIBS})
    target_include_directories(${target}_core PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    mortise_harden(${target}_core)
    set(core ${target}_core)
  endif()
  if(MORTISE_FUZZ)
    return()
  endif()
  add_library(${target} MODULE ${P_SOURCES})
  target_link_libraries(${target} PRIVATE Mortise::sdk ${core} ${P_LIBS})
  mortise_harden(${target})
  if(NOT P_FOLDER)
    if(NOT TARGET mortise_plugins)
      add_custom_target(mortise_plugins)
    endif()
    add_dependencies(mortise_plugins ${target})
    set(P_FOLDER ${CMAKE_BINARY_DIR}/lib/mortise)
    install(TARGETS ${target} LIBRARY DESTINATION lib/mortise)
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "mortise-${P_KIND}-${P_NAME}" LIBRARY_OUTPUT_DIRECTORY ${P_FOLDER})
  # The map hides a static library's symbols and weak template instances too; -z defs finds a missing symbol at build
  # time (a sanitizer's runtime lives in the host, so not there).
  target_link_options(${target} PRIVATE -Wl,--version-script=${MORTISE_PLUGIN_MAP})
  if(NOT MORTISE_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  mortise_protect(${target})
endfunction()

# The host refuses what others may write; under umask 002 a fresh file is such a one.
function(mortise_protect target)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND chmod go-w $<TARGET_FILE:${target}> $<TARGET_FILE_DIR:${target}> VERBATIM)
endfunction()

# Hidden symbols, no unique globals that would be shared between plugins, no multiply-add that only one compiler fuses.
function(mortise_harden target)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(CMAKE_CXX_COMPILER)
    target_compile_features(${target} PRIVATE cxx_std_20)
  endif()
  set_target_properties(${target} PROPERTIES
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
endfunction()

# mortise_isa_variants(<stem>): flags of <stem>_avx2.cc and <stem>_avx512.cc, builds of one kernel source for the
# instruction sets of <mortise/cpp/target.h>. No -mfma: results are the same bits in every build.
function(mortise_isa_variants stem)
  set_source_files_properties(${stem}_avx2.cc PROPERTIES COMPILE_OPTIONS "-mavx2;-mf16c")
  set_source_files_properties(${stem}_avx512.cc PROPERTIES COMPILE_OPTIONS "-mavx512f;-mf16c")
endfunction()
