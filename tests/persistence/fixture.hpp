// Shared parts of the store's tests: a directory of their own, objects, transactions, and calls
// that wait for the response with a deadline.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/schema/core_config.pb.h"
#include "persistence/engine/engine.hpp"
#include "persistence/store/store.hpp"
#include "support/captured_log.hpp"

namespace troupe::persistence::testing {

// Created by mkdtemp, removed with its contents.
class scratch_directory {
 public:
  scratch_directory();
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  std::string path(const std::string& below = "store") const { return (root_ / below).string(); }

 private:
  std::filesystem::path root_;
};

using test::captured_log;

std::string key_of(const std::string& name);
std::unique_ptr<api::core::v1::ConfigMap> config_map(const std::string& name,
                                                     const std::string& value,
                                                     std::size_t size_bytes = 0);
// The value given to config_map(); empty for a null object and other kinds.
std::string value_of(const api::object_ptr& object);

mutation put(const std::string& name, const std::string& value, std::size_t size_bytes = 0);
mutation remove(const std::string& name);
// A Lease: a kind whose writes may be acknowledged before they are on disk.
mutation put_lease(const std::string& name, const std::string& holder);
std::string lease_key(const std::string& name);

transaction just(mutation request);
transaction only_if(revision at, mutation request);

// Waits at most a minute for the response; the test fails if none arrives.
outcome commit(store& to, transaction request);
revision must(const outcome& result);
// Waits as long until a barrier is passed; `passed` runs where it is answered. The test fails if
// the barrier fails or is not answered.
revision reach(store& to, std::function<void()> passed = {});

// Polls `holds` until it is true; false after the deadline.
bool eventually(const std::function<bool()>& holds,
                std::chrono::milliseconds within = std::chrono::seconds{60});

store_options in_directory(const std::string& path);
std::unique_ptr<store> open(store_options options);
std::unique_ptr<store> open(store_options options, engine_factory factory);

// "key=value@revision" of every object, in order.
std::vector<std::string> contents(const snapshot& state);
// "revision type key value<-previous" of every change.
std::string line_of(const change& shown);
std::vector<std::string> lines_of(const std::vector<change>& changes);

// The non-empty files with an extension such as ".log", by name.
std::vector<std::filesystem::path> files_in(const std::string& directory,
                                            const std::string& extension);

// The error of opening the store of a directory.
error refusal_of(const std::string& directory);

// The problems that verify() finds in a directory that no store has open.
std::vector<std::string> problems_in(const std::string& directory);

}  // namespace troupe::persistence::testing
