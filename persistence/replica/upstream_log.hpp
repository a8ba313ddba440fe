// A shared log in which objects stand as kube-apiserver writes them: under its keys
// (upstream_keys.hpp) and in its bytes (api/storage/upstream_form.hpp). Who uses it sees ours, in
// the order of our keys.
//
// A value that cannot be read comes as it is: who reads it as an object says why.
#pragma once

#include <memory>

#include "api/storage/stored_versions.hpp"
#include "persistence/replica/forwarding_log.hpp"

namespace troupe::persistence {

struct upstream_target {
  int minor = api::last_storage_minor;  // objects are written so that release 1.`minor` reads them
};

class upstream_log final : public forwarding_log {
 public:
  upstream_log(std::unique_ptr<shared_log> log, upstream_target target)
      : forwarding_log{std::move(log)}, target_{target} {}
  // The log outlives it, and is not closed with it.
  upstream_log(shared_log& log, upstream_target target) : forwarding_log{log}, target_{target} {}
  ~upstream_log() override { end(); }

  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(std::string after, revision at, std::function<void(expected<log_page>)> done) override;

 private:
  const upstream_target target_;
};

}  // namespace troupe::persistence
