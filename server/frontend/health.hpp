// /healthz, /livez and /readyz with their checks, in upstream's text formats. Thread safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/http/http.hpp"

namespace troupe::server {

class health_checks {
 public:
  // Nullopt: healthy; else the reason, for the log and for users who may read the path of the one
  // check. Called on an I/O thread, so it must not block.
  using check = std::function<std::optional<std::string>()>;
  // A failing `ready` check fails /readyz and /healthz; a failing `live` check also /livez.
  enum class kind { live, ready };

  // The checks "ping" and "log" always exist: writing to the log is synchronous, so a blocked log
  // blocks the answer. A second check of the same name replaces the first.
  void add(std::string name, kind kind, check call);

  // True for /healthz, /livez, /readyz and paths below them.
  static bool serves(std::string_view path);
  // Supports ?verbose and ?exclude=NAME; /livez/NAME runs one check of either kind.
  response serve(const request& request) const;

 private:
  struct named {
    std::string name;
    kind applies_to;
    check call;
  };
  std::vector<named> all() const;

  mutable std::mutex mutex_;
  std::vector<named> checks_;
};

}  // namespace troupe::server
