// A step of admission that asks somebody outside of the process and waits for the answer without a
// thread: a webhook.
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

// One write, copied for those who answer later.
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

// The changed object; null where it is to stay as it is, which is all that a validating step may
// say. An error refuses the write.
using reply = api::expected<std::unique_ptr<api::body>>;

class outside_step {
 public:
  virtual ~outside_step() = default;

  virtual std::string_view name() const noexcept = 0;
  // Mutating steps come before the object is validated, the others after it.
  virtual bool mutates() const noexcept = 0;
  // Asked once for each kind and operation, and for its subresources (`part`).
  virtual bool handles(const api::kind_info& kind, operation op, bool part) const = 0;
  // How long the write waits for it.
  virtual runtime::duration timeout() const noexcept = 0;
  // Must not block. `answer` is called on any thread, at once or later; the first call counts, and
  // one after the time-out does nothing. Called again, with another question, when the write
  // conflicts with another one.
  virtual void ask(question_ptr about, std::function<void(reply)> answer) const = 0;
};

}  // namespace troupe::actors::admission
