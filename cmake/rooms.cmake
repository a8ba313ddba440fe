# One library for each room and one test program for each library.

# What nearly every file reads. Precompiled, with the heavy headers of a room's libraries, it takes a
# quarter off the time of a build; the debug preset builds without, so that includes stay complete.
set(TROUPE_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cstdint> <functional> <map>
  <memory> <mutex> <optional> <set> <string> <string_view> <unordered_map> <utility> <variant>
  <vector> <tl/expected.hpp>)

# The files of a folder are compiled together, some at a time (a unity build): the headers and templates that
# they share are compiled once, which takes nearly half off the time of a cold build. The debug preset compiles
# each file alone, so that includes stay complete. Names that are local to files of one folder must differ.
option(TROUPE_UNITY "compile the files of a folder together" OFF)
set(TROUPE_UNITY_FILES 8)  # together at most: more save little, and one changed file compiles them all

# Files with local names that another file of their folder has too: they are compiled alone.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/compiled_alone.txt TROUPE_COMPILED_ALONE REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/compiled_alone.txt)

# troupe_compile_together(TARGET file...)
function(troupe_compile_together target)
  if(NOT TROUPE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(folders)
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" name)
    list(APPEND folders ${name})
    list(APPEND files_of_${name} ${file})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(name ${folders})
    # Groups of one size: of nine files five and four, not eight and one.
    list(LENGTH files_of_${name} count)
    math(EXPR groups "(${count} + ${TROUPE_UNITY_FILES} - 1) / ${TROUPE_UNITY_FILES}")
    set(index 0)
    foreach(file ${files_of_${name}})
      math(EXPR group "${index} * ${groups} / ${count}")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${name}_${group})
      file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      if(IS_ABSOLUTE ${file})
        file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${file})
      endif()
      get_filename_component(parent ${path} DIRECTORY)
      if(path IN_LIST TROUPE_COMPILED_ALONE OR "${parent}/" IN_LIST TROUPE_COMPILED_ALONE)
        set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()

# troupe_room(NAME [FOLDERS dir...] [PUBLIC lib...] [PRIVATE lib...] [PRECOMPILE header...])
# makes library troupe_NAME from the room's *.cpp files (and those of FOLDERS below it, of which each
# may be a pattern). PRECOMPILE names what to precompile besides the standard headers.
# A room of headers alone is an interface library: whoever links it gets all it names.
function(troupe_room name)
  cmake_parse_arguments(ROOM "" "" "FOLDERS;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  foreach(folder ${ROOM_FOLDERS})
    file(GLOB more CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  if(NOT sources)
    add_library(troupe_${name} INTERFACE)
    target_include_directories(troupe_${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(troupe_${name} INTERFACE ${ROOM_PUBLIC})
    return()
  endif()
  add_library(troupe_${name} STATIC ${sources})
  troupe_compile_together(troupe_${name} ${sources})
  target_include_directories(troupe_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(troupe_${name} PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(troupe_${name} PUBLIC ${ROOM_PUBLIC} PRIVATE ${ROOM_PRIVATE})
  if(ROOM_PRECOMPILE)
    target_precompile_headers(troupe_${name} PRIVATE ${TROUPE_STANDARD_HEADERS} ${ROOM_PRECOMPILE})
  endif()
endfunction()

# troupe_interface(VARIABLE header...) sets VARIABLE to a text that differs if the version or one of the
# headers does: those between the program and a module that it loads. A module with another text is refused.
function(troupe_interface variable)
  set(hashes)
  foreach(header ${ARGN})
    file(SHA256 ${CMAKE_SOURCE_DIR}/${header} hash)
    string(APPEND hashes ${hash})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 12 hash)
  set(${variable} "${PROJECT_VERSION}-${hash}" PARENT_SCOPE)
endfunction()

# troupe_test(NAME [OBJECTS] [LABELS label...] [LINK lib...]) makes NAME_test from tests/NAME/*.cpp.
# OBJECTS: its files are about API objects, and take the precompiled header that has them.
function(troupe_test name)
  cmake_parse_arguments(TEST "OBJECTS" "TIMEOUT" "LABELS;LINK;FOLDERS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  foreach(folder ${TEST_FOLDERS})
    file(GLOB more CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/${folder}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  if(NOT sources)
    return()
  endif()
  file(GLOB_RECURSE forgotten CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  list(REMOVE_ITEM forgotten ${sources})
  if(forgotten)
    message(FATAL_ERROR "tests that no FOLDERS of ${name} names never run: ${forgotten}")
  endif()
  add_executable(${name}_test ${sources})
  troupe_compile_together(${name}_test ${sources})
  # Tests are compiled more often than they run: their own code need not be fast.
  target_compile_options(${name}_test PRIVATE -Wall -Wextra -Werror $<$<CONFIG:Release>:-O1>)
  if(TEST_OBJECTS)
    target_precompile_headers(${name}_test REUSE_FROM troupe_test_object_headers)
  else()
    target_precompile_headers(${name}_test REUSE_FROM troupe_test_headers)
  endif()
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE troupe_test_support ${TEST_LINK})
  # Time limits only end a test that hangs: shared machines may be five times as slow as others.
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 1500)
  endif()
  if(TROUPE_SANITIZE)
    math(EXPR TEST_TIMEOUT "3 * ${TEST_TIMEOUT}")
  endif()
  # Benchmarks are tagged [.bench] and long runs [.long]: the dot hides them from a plain run.
  add_test(NAME ${name} COMMAND ${name}_test)
  set(known suppressions=${CMAKE_SOURCE_DIR}/tests)
  # An entry is skipped if all its tests are: the line of tests/support/main.cpp. ctest also reports a failed
  # entry that matches as skipped, so the expression names the failures.
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT}
    SKIP_REGULAR_EXPRESSION "\n0 passed, [1-9][0-9]* skipped, 0 failed"
    ENVIRONMENT "TSAN_OPTIONS=${known}/tsan.supp:die_after_fork=0;LSAN_OPTIONS=${known}/lsan.supp;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()
