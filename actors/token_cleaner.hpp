// Removes bootstrap tokens whose time is over (kubernetes: pkg/controller/bootstrap/tokencleaner).
// They are refused from that second on without it: this only keeps the store clean.
//
// Owns a timer to the next expiration. Found again from the store after a crash.
#pragma once

#include <map>
#include <string>

#include "actors/bootstrap_token.hpp"
#include "actors/doors.hpp"
#include "actors/follower.hpp"

namespace troupe::actors {

class token_cleaner : public follower {
 public:
  explicit token_cleaner(doors to);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct expiring {
    token_time at;
    revision seen = 0;
  };

  void on_tokens(const watch_events& m);
  void clean();
  void remove_token(const std::string& key, revision seen);

  const doors to_;
  std::map<std::string, expiring> tokens_;  // by key
  runtime::timer next_;
};

}  // namespace troupe::actors
