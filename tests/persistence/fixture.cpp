#include "persistence/fixture.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "api/schema/coordination_v1.pb.h"
#include "api/scheme.hpp"
#include "persistence/repair/verify.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::persistence::testing {

using api::coordination::v1::Lease;
using api::core::v1::ConfigMap;

namespace {

// Only ends a test that hangs: a busy disk may take 20 s for one sync.
constexpr std::chrono::seconds wait_limit{60};

}  // namespace

scratch_directory::scratch_directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "troupe-store-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  root_ = pattern;
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::string key_of(const std::string& name) {
  return "/registry/configmaps/default/" + name;
}

std::unique_ptr<ConfigMap> config_map(const std::string& name, const std::string& value,
                                      std::size_t size_bytes) {
  auto made = std::make_unique<ConfigMap>();
  made->mutable_metadata()->set_name(name);
  made->mutable_metadata()->set_namespace_("default");
  (*made->mutable_data())["value"] = value;
  if (size_bytes > 0) (*made->mutable_data())["padding"] = std::string(size_bytes, 'x');
  return made;
}

std::string value_of(const api::object_ptr& object) {
  if (object == nullptr || &object->kind() != &api::kind_of<ConfigMap>()) return "";
  return object->as<ConfigMap>().data().at("value");
}

mutation put(const std::string& name, const std::string& value, std::size_t size_bytes) {
  return {key_of(name), &api::kind_of<ConfigMap>(), config_map(name, value, size_bytes)};
}

mutation remove(const std::string& name) {
  return {key_of(name), nullptr, nullptr};
}

std::string lease_key(const std::string& name) {
  return "/registry/leases/nodes/" + name;
}

mutation put_lease(const std::string& name, const std::string& holder) {
  auto made = std::make_unique<Lease>();
  made->mutable_metadata()->set_name(name);
  made->mutable_metadata()->set_namespace_("nodes");
  made->mutable_spec()->set_holder_identity(holder);
  return {lease_key(name), &api::kind_of<Lease>(), std::move(made)};
}

transaction just(mutation request) {
  transaction made;
  made.mutations.push_back(std::move(request));
  return made;
}

transaction only_if(revision at, mutation request) {
  transaction made;
  made.preconditions.push_back({request.key, at});
  made.mutations.push_back(std::move(request));
  return made;
}

outcome commit(store& to, transaction request) {
  const auto answer = std::make_shared<std::promise<outcome>>();
  auto answered = answer->get_future();
  to.submit(std::move(request), [answer](outcome result) { answer->set_value(std::move(result)); });
  REQUIRE(answered.wait_for(wait_limit) == std::future_status::ready);
  return answered.get();
}

revision must(const outcome& result) {
  if (!result) FAIL(result.error().message);
  return result->at;
}

revision reach(store& to, std::function<void()> passed) {
  const auto answer = std::make_shared<std::promise<expected<revision>>>();
  auto answered = answer->get_future();
  to.barrier([answer, passed = std::move(passed)](expected<revision> reached) {
    if (passed) passed();
    answer->set_value(std::move(reached));
  });
  REQUIRE(answered.wait_for(wait_limit) == std::future_status::ready);
  const auto reached = answered.get();
  if (!reached) FAIL(reached.error().message);
  return *reached;
}

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds within) {
  const auto deadline = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

store_options in_directory(const std::string& path) {
  store_options options;
  options.directory = path;
  return options;
}

std::unique_ptr<store> open(store_options options) {
  auto made = store::open(std::move(options));
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

std::unique_ptr<store> open(store_options options, engine_factory factory) {
  auto made = local_store::open(std::move(options), std::move(factory));
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

std::vector<std::string> contents(const snapshot& state) {
  std::vector<std::string> found;
  state.scan("", "", [&](std::string_view key, const api::object_ptr& object) {
    found.push_back(fmt::format("{}={}@{}", key.substr(key.rfind('/') + 1), value_of(object),
                                object->revision()));
    return true;
  });
  return found;
}

std::string line_of(const change& shown) {
  const char* const words[] = {"created", "updated", "removed"};
  const auto name = shown.key.substr(shown.key.rfind('/') + 1);
  auto line = fmt::format("{} {} {} {}@{}", shown.at, words[static_cast<int>(shown.type)], name,
                          value_of(shown.object), shown.object->revision());
  if (shown.previous)
    line += fmt::format(" <- {}@{}", value_of(shown.previous), shown.previous->revision());
  return line;
}

std::vector<std::string> lines_of(const std::vector<change>& changes) {
  std::vector<std::string> lines;
  for (const auto& each : changes)
    lines.push_back(line_of(each));
  return lines;
}

std::vector<std::filesystem::path> files_in(const std::string& directory,
                                            const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& each : std::filesystem::directory_iterator{directory})
    if (each.path().extension() == extension && std::filesystem::file_size(each) > 0)
      found.push_back(each);
  std::sort(found.begin(), found.end());
  return found;
}

error refusal_of(const std::string& directory) {
  const auto opened = store::open(in_directory(directory));
  if (opened) return {errc::invalid, "it was opened"};
  return opened.error();
}

std::vector<std::string> problems_in(const std::string& directory) {
  auto found = verify(directory);
  if (!found) return {found.error().message};
  return found->problems;
}

}  // namespace troupe::persistence::testing
