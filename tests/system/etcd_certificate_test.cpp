// The certificate of a control plane for etcd is replaced while it runs: a real etcd with TLS.
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "etcd/etcd_server.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/etcd/etcd.hpp"
#include "persistence/replica/replicated_store.hpp"
#include "server/credentials/x509.hpp"
#include "support/captured_log.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace api = troupe::api;
namespace persistence = troupe::persistence;
namespace x509 = troupe::server::x509;

namespace {

const std::string used_now = "are used for all new connections from now on";
const std::string not_used = "have changed but cannot be used";

x509::validity a_day() {
  const auto now = std::chrono::system_clock::now();
  return {now - 1h, now + 23h};
}

class etcd_authority {
 public:
  explicit etcd_authority(const std::string& name) {
    auto made = x509::make_authority(name, a_day());
    REQUIRE(made);
    own_ = std::move(*made);
  }

  const std::string& certificate() const { return own_.certificate; }
  x509::identity client(const std::string& name, const x509::validity& valid = a_day()) const {
    return issue({name, {}, {}, valid});
  }
  // etcd calls itself with it.
  x509::identity member() const { return issue({"etcd", {}, {"127.0.0.1"}, a_day(), true}); }

 private:
  x509::identity issue(const x509::leaf& leaf) const {
    auto made = x509::issue(own_, leaf);
    REQUIRE(made);
    return std::move(*made);
  }

  x509::identity own_;
};

// A control plane's store, without the rest of it.
class plane_store {
 public:
  plane_store(const persistence::etcd_options& etcd, const std::string& name) {
    auto log = persistence::open_etcd(etcd);
    REQUIRE(log);
    persistence::store_options options;
    options.cluster_id = "one";
    auto opened = persistence::replicated_store::open(
        options, persistence::memory_engine_on(std::make_shared<persistence::memory_disk>()),
        std::move(*log), "etcd", name);
    REQUIRE(opened);
    store_ = std::move(*opened);
  }

  // Creates or changes the object. False if etcd did not answer in time.
  bool put(const std::string& name) {
    auto object = std::make_unique<api::core::v1::ConfigMap>();
    object->mutable_metadata()->set_name(name);
    object->mutable_metadata()->set_namespace_("default");
    (*object->mutable_data())["count"] = std::to_string(++puts_);
    persistence::transaction request;
    request.mutations.push_back(
        {key_of(name), &api::kind_of<api::core::v1::ConfigMap>(), std::move(object)});
    const auto answer = std::make_shared<std::promise<bool>>();
    auto answered = answer->get_future();
    store_->submit(std::move(request), [answer](const persistence::outcome& result) {
      answer->set_value(result.has_value());
    });
    REQUIRE(answered.wait_for(60s) == std::future_status::ready);
    return answered.get();
  }
  // Whether it is there, in a state as new as etcd's.
  bool has(const std::string& name) {
    const auto answer = std::make_shared<std::promise<bool>>();
    auto answered = answer->get_future();
    store_->barrier([answer](const persistence::expected<persistence::revision>& reached) {
      answer->set_value(reached.has_value());
    });
    REQUIRE(answered.wait_for(60s) == std::future_status::ready);
    return answered.get() && store_->read().find(key_of(name)) != nullptr;
  }

 private:
  static std::string key_of(const std::string& name) {
    return "/registry/configmaps/default/" + name;
  }

  std::unique_ptr<persistence::replicated_store> store_;
  int puts_ = 0;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE(
    "control planes use a replaced certificate for etcd without a restart, and the old one until "
    "then",
    "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  captured_log log;
  const scratch_folder place;
  const etcd_authority members{"members"}, first{"first"}, second{"second"}, unknown{"unknown"};
  const auto trust = [&](const std::string& clients) {
    return place.write("clients.crt", members.certificate() + clients).string();
  };
  const auto own = members.member();
  etcd_server etcd{0,
                   {.certificate = place.write("server.crt", own.certificate).string(),
                    .key = place.write("server.key", own.private_key).string(),
                    .client_authorities = trust(first.certificate() + second.certificate())}};
  const auto give = [&](const x509::identity& shown) {
    place.write("client.crt", shown.certificate);
    place.write("client.key", shown.private_key);
  };
  give(first.client("old"));
  const persistence::etcd_options options{
      .endpoints = {etcd.endpoint()},
      .ca_file = place.write("ca.crt", members.certificate()).string(),
      .certificate_file = (place.path() / "client.crt").string(),
      .key_file = (place.path() / "client.key").string(),
      .reload_period = 50ms};
  plane_store one{options, "one"}, other{options, "other"};
  const auto go_on = [&](const std::string& name) {
    CHECK(eventually([&] { return one.put(name); }));
    CHECK(eventually([&] { return other.has(name); }));
  };
  // Each look at the log is also a write: clients are served meanwhile.
  const auto comes_to_log = [&](const std::string& text, std::size_t number = 1) {
    return eventually(
        [&] { return one.put("meanwhile") && occurrences(log.text(), text) >= number; });
  };
  go_on("with the old one");

  const auto renewed = second.client("renewed");
  place.write("client.crt", renewed.certificate);
  CHECK(comes_to_log(options.key_file + " does not belong to the certificate in"));
  const auto refused = persistence::open_etcd(options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == persistence::errc::invalid);
  CHECK_THAT(refused.error().message, Contains("does not belong to the certificate in"));
  etcd.restart();
  go_on("while half is written");

  log.take();
  give(unknown.client("renewed"));
  CHECK(comes_to_log("no answer with them from etcd at " + etcd.endpoint()));
  etcd.restart();
  go_on("while etcd accepts the old one alone");
  CHECK_THAT(log.text(), Contains(not_used) && !Contains(used_now));

  std::filesystem::remove(options.key_file);
  REQUIRE(::mkfifo(options.key_file.c_str(), 0600) == 0);
  CHECK(comes_to_log(options.key_file + " is no regular file"));
  std::filesystem::remove(options.key_file);

  log.take();
  give(renewed);
  CHECK(comes_to_log(used_now, 2));
  trust(second.certificate());
  etcd.restart();
  go_on("with the new one");
  // One line of each control plane for each state of the files.
  CHECK(occurrences(log.text(), used_now) == 2);
}

TEST_CASE("a certificate for etcd is warned of in the last fifth of its life, and after its end",
          "[etcd]") {
  captured_log log;
  const scratch_folder place;
  const etcd_authority from{"etcd"};
  // No etcd is needed: the warning comes before the log is closed.
  const auto logged = [&](const x509::validity& valid) {
    const auto shown = from.client("plane", valid);
    const auto opened = persistence::open_etcd(
        {.endpoints = {"https://127.0.0.1:1"},
         .ca_file = place.write("ca.crt", from.certificate()).string(),
         .certificate_file = place.write("client.crt", shown.certificate).string(),
         .key_file = place.write("client.key", shown.private_key).string()});
    REQUIRE(opened);
    (*opened)->close();
    return log.take();
  };
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string warning = "client.crt is valid until";
  CHECK_THAT(logged({now - 1h, now + 19h}), !Contains(warning));
  CHECK_THAT(logged({now - 15h, now + 5h}), !Contains(warning));
  CHECK_THAT(logged({now - 17h, now + 3h}), Contains(warning) && Contains("replace it"));
  CHECK_THAT(logged({now - 30h, now - 10h}), Contains(warning));
}
