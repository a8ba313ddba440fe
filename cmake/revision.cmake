# Writes OUTPUT, a header with the commit that is built, when it has changed: cmake -P, at each build.
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE unknown)
if(unknown)
  set(commit "unknown")
endif()
execute_process(COMMAND git diff-index --quiet HEAD -- WORKING_DIRECTORY ${SOURCE}
  ERROR_QUIET RESULT_VARIABLE changed)
set(state "clean")
if(changed)
  set(state "dirty")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"// Made by cmake/revision.cmake.
#pragma once
#define TROUPE_COMMIT \"${commit}\"
#define TROUPE_TREE_STATE \"${state}\"
")
