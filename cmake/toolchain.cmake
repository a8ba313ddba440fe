# Warnings, sanitizers, and the optional helpers that only make the build faster.
option(TROUPE_CCACHE "compile through ccache when it is installed" ON)
set(TROUPE_SANITIZE "" CACHE STRING "value for -fsanitize=, e.g. address,undefined or thread")

find_program(CCACHE_PROGRAM ccache)
if(TROUPE_CCACHE AND CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  # Without it ccache does not look at files that use a precompiled header.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  # What runs at the start alone, and what seldom runs, lies together.
  add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()
add_link_options(-Wl,--as-needed)
# What nobody calls is not in the program, and so not in its memory.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
  add_compile_definitions(TROUPE_SANITIZED)
  if(TROUPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  # protobuf's headers give its maps two more members where this macro is defined; Debian's library
  # was built without them. libstdc++ and our own code get their own word for it.
  if(TROUPE_SANITIZE MATCHES "thread")
    add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1 -DTROUPE_TSAN=1)
  endif()
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG")
endif()

# -O3 costs a fifth more build time and gives this program nothing that the bench shows.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# g++ 12 sees copies that overlap or overflow in std::string's operators where there are none (GCC
# bugs 105329, 105651); behind a precompiled header it also reports them. The asan preset looks for
# the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>")
endif()
