// Objects of compact kinds (Event): the store keeps their bytes, readers decode them.
#include <malloc.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <thread>

#include "api/schema/core_event.pb.h"
#include "api/scheme.hpp"
#include "persistence/fixture.hpp"
#include "persistence/tree/snapshot.hpp"
#include "support/sanitizer.hpp"

namespace troupe::persistence {
namespace {

using namespace testing;
using api::core::v1::Event;

// As the scheduler writes for a pod: about 500 bytes.
std::unique_ptr<Event> event_named(const std::string& name) {
  auto made = std::make_unique<Event>();
  auto& meta = *made->mutable_metadata();
  meta.set_name(name);
  meta.set_namespace_("default");
  meta.set_uid("6e1e22ae-3c28-4a9b-8a2c-0d41d3c6a4f5");
  meta.mutable_creation_timestamp()->set_seconds(1'704'067'200);
  auto& about = *made->mutable_involved_object();
  about.set_kind("Pod");
  about.set_namespace_("default");
  about.set_name("hello-7qx24-of-some-deployment");
  about.set_uid("c1f0d8b6-4e5b-4b69-9a35-1f0f2c8b0a11");
  about.set_api_version("v1");
  about.set_resource_version("123456");
  made->set_reason("FailedScheduling");
  made->set_message(
      "0/100 nodes are available: 60 Insufficient cpu, 40 node(s) had untolerated taint "
      "{node.kubernetes.io/not-ready: }. preemption: 0/100 nodes are available.");
  made->mutable_source()->set_component("default-scheduler");
  made->mutable_first_timestamp()->set_seconds(1'704'067'200);
  made->mutable_last_timestamp()->set_seconds(1'704'067'200);
  made->set_count(1);
  made->set_type("Warning");
  made->set_reporting_component("default-scheduler");
  return made;
}

std::string event_key(const std::string& name) {
  return api::kind_of<Event>().key("default", name);
}

transaction put_event(const std::string& name) {
  return just({event_key(name), &api::kind_of<Event>(), event_named(name)});
}

double resident_mb() {
  std::ifstream file{"/proc/self/statm"};
  long total = 0, resident = 0;
  file >> total >> resident;
  return double(resident) * double(::sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace

TEST_CASE("of an event the store keeps bytes, which every reader decodes again", "[compact]") {
  scratch_directory scratch;
  auto kept = open(in_directory(scratch.path()));
  std::vector<change> seen;
  kept->observe([&](revision, const change_batch& batch) {
    seen.insert(seen.end(), batch->begin(), batch->end());
  });
  const auto made = must(commit(*kept, put_event("a")));
  auto changed = event_named("a");
  changed->set_count(2);
  must(commit(*kept, just({event_key("a"), &api::kind_of<Event>(), std::move(changed)})));
  const auto gone = must(commit(*kept, just({event_key("a"), &api::kind_of<Event>(), nullptr})));
  must(commit(*kept, put_event("b")));

  const auto one = kept->read().find(event_key("b"));
  const auto other = kept->read().find(event_key("b"));
  CHECK(one != other);
  CHECK(one->as<Event>().reason() == "FailedScheduling");
  CHECK(one->meta().resource_version() == std::to_string(one->revision()));
  CHECK(one->json() == other->json());
  CHECK(kept->read().encoded_bytes() == one->stored().size());

  REQUIRE(eventually([&] { return seen.size() == 4; }));
  for (const auto& each : seen)
    CHECK_FALSE(each.object->stored().empty());
  CHECK(seen[1].previous->revision() == made);
  CHECK(seen[1].previous->as<Event>().count() == 1);
  CHECK(seen[1].object->as<Event>().count() == 2);
  CHECK(seen[2].object->meta().resource_version() == std::to_string(gone));
  CHECK(seen[2].object->as<Event>().count() == 2);

  kept = {};
  kept = open(in_directory(scratch.path()));
  const auto again = kept->read().find(event_key("b"));
  CHECK(again->json() == one->json());
  CHECK(again->stored() == one->stored());
  CHECK(kept->read().encoded_bytes() == one->stored().size());
}

TEST_CASE("an object that is decoded late is decoded once, by whoever comes first", "[compact]") {
  const auto& kind = api::kind_of<Event>();
  const auto bytes = std::make_shared<const std::string>(api::to_storage(kind, *event_named("a")));
  const auto object = api::object::encoded(kind, *bytes, 7, bytes);
  std::vector<const api::body*> contents(8);
  std::vector<std::thread> readers;
  for (auto& each : contents)
    readers.emplace_back([&each, &object] { each = &object->content(); });
  for (auto& each : readers)
    each.join();
  for (const auto* each : contents)
    CHECK(each == contents.front());
  CHECK(object->meta().name() == "a");
  CHECK(object->meta().resource_version() == "7");
  CHECK(object->undecoded()->stored().data() == bytes->data());
}

TEST_CASE("100,000 events take no more than 90 MB", "[.alone][events_memory]") {
  if (!test::memory_is_the_programs()) return;
  scratch_directory scratch;
  // Written by another process: memory freed by this one would hide the store's usage.
  const pid_t writer = ::fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {
    {
      auto kept = open(in_directory(scratch.path()));
      for (int part = 0; part < 100; ++part) {
        transaction many;
        for (int i = 0; i < 1'000; ++i) {
          const auto name = fmt::format("hello-7qx24-of-some-deployment.{:016x}", part * 1'000 + i);
          many.mutations.push_back({event_key(name), &api::kind_of<Event>(), event_named(name)});
        }
        must(commit(*kept, std::move(many)));
      }
    }
    ::_exit(0);
  }
  int status = 1;
  REQUIRE((::waitpid(writer, &status, 0) == writer && status == 0));
  const auto before = resident_mb();
  const auto kept = open(in_directory(scratch.path()));
  REQUIRE(kept->read().size() == 100'000);
  // Reading all of them must leave no memory allocated.
  std::size_t seen = 0;
  kept->read().scan(api::kind_of<Event>().prefix(), {},
                    [&](std::string_view, const api::object_ptr& object) {
                      seen += object->json().size() > 100 ? 1 : 0;
                      return true;
                    });
  CHECK(seen == 100'000);
  // Temporary memory of the opening; the program's allocator returns it by itself.
  ::malloc_trim(0);
  const auto taken = resident_mb() - before;
  std::cout << "100,000 events: " << taken << " MB, " << kept->read().encoded_bytes()
            << " bytes encoded" << std::endl;
  CHECK(taken <= 90);
}

}  // namespace troupe::persistence
