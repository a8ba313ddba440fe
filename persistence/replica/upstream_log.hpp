// Adapts a shared log to the layout of kube-apiserver: its keys (upstream_keys.hpp) and its
// encoding (api/storage/upstream_form.hpp). Callers see our keys and encoding, in the order of our
// keys.
//
// A value that cannot be decoded is passed on as it is: the reader of the object reports it.
#pragma once

#include <memory>

#include "api/storage/stored_versions.hpp"
#include "persistence/replica/forwarding_log.hpp"

namespace troupe::persistence {

struct upstream_target {
  int minor = api::last_storage_minor;  // release 1.`minor` must be able to read the objects
};

class upstream_log final : public forwarding_log {
 public:
  upstream_log(std::unique_ptr<shared_log> log, upstream_target target)
      : forwarding_log{std::move(log)}, target_{target} {}
  // The log must outlive this object, which does not close it.
  upstream_log(shared_log& log, upstream_target target) : forwarding_log{log}, target_{target} {}
  ~upstream_log() override { end(); }

  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(log_range range, std::function<void(expected<log_page>)> done) override;

 private:
  const upstream_target target_;
};

}  // namespace troupe::persistence
