# Every library comes from Debian 12's packages (tools/setup installs them).
#
# RocksDB and protobuf become part of the program (docs/decisions/0014-what-is-linked-in.md), but for
# the sanitizers, whose suppressions name shared libraries.
if(NOT TROUPE_SANITIZE)
  set(Protobuf_USE_STATIC_LIBS ON)
endif()
find_package(Protobuf 3.21 REQUIRED)
find_package(CAF REQUIRED)
find_package(RocksDB REQUIRED)
if(TROUPE_SANITIZE)
  add_library(troupe_rocksdb ALIAS RocksDB::rocksdb-shared)
else()
  add_library(troupe_rocksdb ALIAS RocksDB::rocksdb)
endif()
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(UUID REQUIRED IMPORTED_TARGET uuid)
# gRPC is in the link's module alone, with the shared protobuf that it is made for.
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++)
# Abseil's files say -DNOMINMAX, which is for Windows and spoils precompiled headers.
set_property(TARGET PkgConfig::GRPC PROPERTY INTERFACE_COMPILE_OPTIONS "")
find_library(PROTOBUF_SHARED libprotobuf.so REQUIRED)
add_library(troupe_grpc INTERFACE)
target_link_libraries(troupe_grpc INTERFACE PkgConfig::GRPC ${PROTOBUF_SHARED})
find_program(GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
# What containers may ask of the kernel (docs/decisions/0019-confinement-of-containers.md).
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
# Patterns of schemas, in the language of upstream's (docs/decisions/0032-custom-resources.md).
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
set_property(TARGET PkgConfig::RE2 PROPERTY INTERFACE_COMPILE_OPTIONS "")
# Time zones (docs/decisions/0044-time-zones.md).
pkg_check_modules(ABSL_TIME REQUIRED IMPORTED_TARGET absl_time)
set_property(TARGET PkgConfig::ABSL_TIME PROPERTY INTERFACE_COMPILE_OPTIONS "")
# The mutexes of gRPC (persistence/etcd/client).
pkg_check_modules(ABSL_MUTEX REQUIRED IMPORTED_TARGET absl_synchronization)
set_property(TARGET PkgConfig::ABSL_MUTEX PROPERTY INTERFACE_COMPILE_OPTIONS "")
