// A shared log that forwards every call to another one: the base class of adapters that change some
// calls.
#pragma once

#include <memory>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

class forwarding_log : public shared_log {
 public:
  void close() override { log_.close(); }
  void identity(std::function<void(expected<std::string>)> done) override;
  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(log_range range, std::function<void(expected<log_page>)> done) override;
  void grant(std::chrono::seconds time_to_live,
             std::function<void(expected<lease_id>)> done) override;
  void renew(lease_id lease, std::chrono::milliseconds limit,
             std::function<void(expected<std::chrono::seconds>)> done) override;
  void revoke(lease_id lease, std::function<void()> done) override;
  void compact(revision up_to, std::function<void(expected<void>)> done) override;
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override;

 protected:
  explicit forwarding_log(std::unique_ptr<shared_log> log)
      : owned_{std::move(log)}, log_{*owned_} {}
  // The log must outlive this object, which does not close it.
  explicit forwarding_log(shared_log& log) : log_{log} {}

  // Each subclass whose callbacks or readers use it calls this in its destructor: none runs later.
  void end();

  shared_log& log() const noexcept { return log_; }
  // Follows the log with an adapter between the log and the reader of the caller, and owns it.
  void follow_through(revision after, std::unique_ptr<log_reader> reader);

 private:
  const std::unique_ptr<shared_log> owned_;
  shared_log& log_;
  std::unique_ptr<log_reader> reader_;  // of the log's thread
};

}  // namespace troupe::persistence
