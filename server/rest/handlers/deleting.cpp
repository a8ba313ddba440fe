#include "server/rest/handlers/deleting.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/write/commands.hpp"
#include "api/kind_row.hpp"
#include "server/rest/handlers/reading.hpp"
#include "server/rest/handlers/writing.hpp"

namespace troupe::server {
namespace {

using api::meta::v1::DeleteOptions;
using persistence::snapshot;

bool is_dry(const DeleteOptions& options) {
  return std::find(options.dry_run().begin(), options.dry_run().end(), "All") !=
         options.dry_run().end();
}

void answer_removed(const call_ptr& call, const DeleteOptions& options,
                    const write_result& result) {
  if (result.removed && !call->kind().row().deletion_shows_object)
    return call->succeed(200, result.object);
  // The old option for foreground deletion (kubernetes: endpoints/handlers/delete.go).
  const bool waits =
      !result.removed && options.has_orphan_dependents() && !options.orphan_dependents();
  call->answer(waits ? 202 : 200, result.object);
}

// The objects of a deletecollection, some in progress. Completions come from any
// thread.
class sweep : public std::enable_shared_from_this<sweep> {
 public:
  sweep(call_ptr call, DeleteOptions options, list_page found)
      : call_{std::move(call)},
        options_{std::move(options)},
        left_{std::move(found.items)},
        answer_{std::move(found)} {}

  void begin() {
    const auto count = std::min(left_.size(), defaults::parallel_deletions);
    if (count == 0) return finish();
    under_way_ = count;
    for (std::size_t i = 0; i < count; ++i)
      next();
  }

 private:
  // Starts the next deletion when one has ended.
  void next() {
    std::unique_lock lock{mutex_};
    if (failure_ || at_ == left_.size()) {
      const bool last = --under_way_ == 0;
      lock.unlock();
      if (last) finish();
      return;
    }
    const auto object = left_[at_++];
    lock.unlock();
    const auto& meta = object->meta();
    auto self = shared_from_this();
    auto request =
        request_of(*call_, is_dry(options_),
                   [self, key = object->kind().key(meta.namespace_(), meta.name()),
                    name = meta.name()](const snapshot& state) {
                     return propose_removal(self->call_, state, key, name, self->options_);
                   });
    request.done = [self](const actors::write_outcome& outcome) { self->ended(outcome.result); };
    call_->services.plane.writes().carry_out(std::move(request));
  }

  void ended(const api::expected<write_result>& result) {
    {
      const std::lock_guard lock{mutex_};
      if (result)
        answer_.items.push_back(result->object);
      else if (result.error().code != 404 && !failure_)
        failure_ = result.error();
    }
    // On another thread: refusals may come immediately, thousands of times.
    if (!call_->services.retries.post([self = shared_from_this()] { self->next(); })) next();
  }

  void finish() {
    call_->run([self = shared_from_this()] { self->answer(); });
  }

  void answer() {
    if (failure_) return call_->fail(*failure_);
    answer_.revision = call_->services.read().at();
    answer_list(call_, std::move(answer_));
  }

  const call_ptr call_;
  const DeleteOptions options_;
  const std::vector<api::object_ptr> left_;
  std::mutex mutex_;
  std::size_t at_ = 0;
  std::size_t under_way_ = 0;
  list_page answer_;  // the deleted objects, and the continue token
  std::optional<api::error> failure_;
};

}  // namespace

api::expected<proposal> propose_removal(const call_ptr& call, const snapshot& state,
                                        const std::string& key, std::string_view name,
                                        const DeleteOptions& options) {
  return actors::propose_removal(
      actors::plan_removal(state, api::home_of(call->kind()), key, name, options, wall_now(*call)));
}

void delete_object(const call_ptr& call) {
  const auto parsed = parse_delete_options(*call->request);
  if (!parsed) return call->fail(parsed.error());
  const auto options = std::make_shared<const DeleteOptions>(*parsed);
  carry_out(
      call, is_dry(*options),
      [call, options](const snapshot& state) {
        return propose_removal(call, state, call->key(), call->route.name, *options);
      },
      [call, options](const write_result& result) { answer_removed(call, *options, result); });
}

void delete_collection(const call_ptr& call) {
  auto options = parse_delete_options(*call->request);
  if (!options) return call->fail(options.error());
  const auto chosen = parse_list_options(call->kind(), call->request->query, false);
  if (!chosen) return call->fail(chosen.error());
  auto found = read_page(*call, *chosen);
  if (!found) return call->fail(found.error());
  std::make_shared<sweep>(call, std::move(*options), std::move(*found))->begin();
}

}  // namespace troupe::server
