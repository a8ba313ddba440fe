// A shared log in which objects stand as kube-apiserver writes them: under its keys
// (upstream_keys.hpp) and in its bytes (api/storage/upstream_form.hpp). Who uses it sees ours, in
// the order of our keys.
//
// A value that cannot be read comes as it is: who reads it as an object says why.
#pragma once

#include <memory>

#include "api/storage/stored_versions.hpp"
#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

struct upstream_target {
  int minor = api::last_storage_minor;  // objects are written so that release 1.`minor` reads them
};

class upstream_log final : public shared_log {
 public:
  upstream_log(std::unique_ptr<shared_log> log, upstream_target target);
  // The log outlives it, and is not closed with it.
  upstream_log(shared_log& log, upstream_target target);
  ~upstream_log() override;

  void close() override { log_.close(); }
  void identity(std::function<void(expected<std::string>)> done) override;
  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(std::string after, revision at, std::function<void(expected<log_page>)> done) override;
  void grant(std::chrono::seconds time_to_live,
             std::function<void(expected<lease_id>)> done) override;
  void renew(lease_id lease, std::function<void(expected<std::chrono::seconds>)> done) override;
  void revoke(lease_id lease, std::function<void()> done) override;
  void compact(revision up_to, std::function<void(expected<void>)> done) override;
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override;

 private:
  class reader;

  const std::unique_ptr<shared_log> owned_;
  shared_log& log_;
  const upstream_target target_;
  std::unique_ptr<reader> reader_;  // of the log's thread
};

}  // namespace troupe::persistence
