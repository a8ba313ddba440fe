// An external step of admission (a webhook): it calls a service outside of the process and waits
// for the answer without a thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/write/admission/attributes.hpp"
#include "api/object/object.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors::admission {

// A copy of one write, for steps that answer later.
struct question {
  api::kind_handle kind;
  operation op;
  std::string subresource;
  std::string user;
  std::vector<std::string> groups;
  bool dry_run = false;
  api::object_ptr before;                // null for a create
  std::shared_ptr<const api::body> now;  // null for a delete
};
using question_ptr = std::shared_ptr<const question>;

// The changed object; null if it stays as it is, which is the only success of a validating step. An
// error rejects the write.
using reply = api::expected<std::unique_ptr<api::body>>;

class external_step {
 public:
  virtual ~external_step() = default;

  virtual std::string_view name() const noexcept = 0;
  // Mutating steps run before validation, the others after it.
  virtual bool mutates() const noexcept = 0;
  // Called once for each kind and operation; `part`: for writes of subresources.
  virtual bool handles(const api::kind_info& kind, operation op, bool part) const = 0;
  // The maximum time that the write waits for the answer.
  virtual runtime::duration timeout() const noexcept = 0;
  // Must not block. `answer` is called on any thread, now or later; only the first call counts, and
  // a call after the timeout is ignored. A conflict of the write leads to another call with a new
  // question.
  virtual void ask(question_ptr about, std::function<void(reply)> answer) const = 0;
};

}  // namespace troupe::actors::admission
