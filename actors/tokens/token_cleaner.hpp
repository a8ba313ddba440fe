// Deletes expired bootstrap tokens (kubernetes: pkg/controller/bootstrap/tokencleaner), which are
// rejected anyway: this only cleans the store.
//
// Its state is a timer to the next expiration, rebuilt from the store after a crash.
#pragma once

#include <map>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/tokens/bootstrap_token.hpp"

namespace troupe::actors {

class token_cleaner : public informer {
 public:
  explicit token_cleaner(core_actors core);

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

  const core_actors core_;
  std::map<std::string, expiring> tokens_;  // by key
  runtime::timer next_;
};

}  // namespace troupe::actors
