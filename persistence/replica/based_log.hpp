// Adapts a shared log: adds a base to all its revisions (cluster_record.hpp).
#pragma once

#include <memory>

#include "persistence/replica/forwarding_log.hpp"

namespace troupe::persistence {

class based_log final : public forwarding_log {
 public:
  based_log(std::unique_ptr<shared_log> log, revision base);
  ~based_log() override { end(); }

  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(log_range range, std::function<void(expected<log_page>)> done) override;
  void compact(revision up_to, std::function<void(expected<void>)> done) override;

 private:
  class reader;

  // 0 stays 0: it means "none".
  revision below(revision at) const { return at > base_ ? at - base_ : 0; }
  revision above(revision at) const { return at == 0 ? 0 : at + base_; }

  const revision base_;
};

}  // namespace troupe::persistence
