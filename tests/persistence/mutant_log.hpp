// A connection to a shared log that loses steps and disables one safety check of the store above
// it. For tests of tests: a suite that finds no error with such a store would not notice that the
// check is missing.
#pragma once

#include <memory>
#include <random>

#include "persistence/replica/forwarding_log.hpp"

namespace troupe::persistence::testing {

enum class mutant : std::uint8_t {
  none,
  no_fence,       // a leader's transactions do not compare the key of its term
  no_session,     // transactions do not compare the session
  no_await,       // a conflict is answered although the state here is older
  no_hole_check,  // a missing step is not detected
  no_fresh,       // a barrier does not query the log
  no_audit,       // the state is not compared with the log
};

class mutant_log final : public forwarding_log {
 public:
  // `drop`: the probability that a step is lost.
  mutant_log(std::unique_ptr<shared_log> inner, mutant without, std::uint64_t seed, double drop);
  ~mutant_log() override { end(); }

  void stop_dropping() { drop_ = 0; }

  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void list(log_range range, std::function<void(expected<log_page>)> done) override;

 private:
  // Between the log and the store.
  struct tap final : log_reader {
    explicit tap(mutant_log& owner) : of{owner} {}
    void on_steps(std::vector<log_step> steps) override;
    void on_end(error reason) override { to->on_end(std::move(reason)); }
    mutant_log& of;
    log_reader* to = nullptr;
  };

  const mutant without_;
  revision seen_ = 1;  // the newest one that the store knows
  double drop_;
  std::mt19937_64 random_;
  tap tap_{*this};
};

}  // namespace troupe::persistence::testing
