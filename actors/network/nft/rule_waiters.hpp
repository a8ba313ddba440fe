// Pods that wait until their rules are in force. A member of the actor that owns a table, beside
// its `script_writer`; only that actor may call it.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::actors::nft {

// Message to the actor that owns a table: a pod of this node is about to start its containers.
// Answered by `done`, with the error or an empty text. From now on the pod is known by these
// addresses, whatever its status says. Idempotent.
struct guard_pod {
  api::object_ptr pod;
  std::vector<std::string> addresses;
  std::function<void(std::string problem)> done;
};

// By uid of the pod: a repeated request is answered once.
class rule_waiters {
 public:
  void add(const guard_pod& m) { waiting_[m.pod->meta().uid()] = m.done; }
  // The rules of this pod will not come.
  void refuse(const std::string& uid, const std::string& problem) {
    if (auto entry = waiting_.extract(uid)) entry.mapped()(problem);
  }
  bool empty() const { return waiting_.empty(); }

  // The script that begins now has the rules of all that wait.
  void begin() { running_ = std::exchange(waiting_, {}); }
  // That script has ended.
  void end(const std::string& problem) { answer(running_, problem); }
  // There is nothing to write: the rules are in force.
  void up_to_date() { answer(waiting_, {}); }

 private:
  using answers = std::unordered_map<std::string, std::function<void(std::string)>>;

  static void answer(answers& to, const std::string& problem) {
    for (const auto& [uid, done] : std::exchange(to, {}))
      done(problem);
  }

  answers waiting_, running_;
};

}  // namespace troupe::actors::nft
