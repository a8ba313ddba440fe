#include "server/legacy/operations.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "runtime/actor.hpp"
#include "runtime/actor_system.hpp"
#include "server/legacy/defaults.hpp"

namespace troupe::server::legacy {
namespace {

struct begun {
  std::uint64_t id = 0;
  legacy_call_ptr call;
  runtime::duration wait{0};
};
struct finished {
  std::uint64_t id = 0;
  std::shared_ptr<const operation_result> result;
};
struct asked {
  std::optional<std::uint64_t> id;  // nullopt: all
  legacy_call_ptr call;
};

class operation_table final : public runtime::actor {
 public:
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(
        &operation_table::on_begun, &operation_table::on_finished, &operation_table::on_asked);
    return table;
  }
  void started() override {
    sweep_ = every(defaults::sweep_period, [this] { sweep(); });
  }
  std::string describe() const override {
    return fmt::format("operations: {}\nfinished: {}\n", all_.size(), finished_.size());
  }

 private:
  struct operation {
    legacy_call_ptr waiting;  // null after the response
    runtime::timer patience;
    std::shared_ptr<const operation_result> result;  // null while it is in progress
  };
  struct end {
    runtime::time_point at;
    std::uint64_t id;
  };

  void on_begun(const begun& m) {
    auto& made = all_[m.id];
    made.waiting = m.call;
    made.patience = after(m.wait, [this, id = m.id] { give_up_waiting(id); });
  }

  void give_up_waiting(std::uint64_t id) {
    const auto call = std::exchange(all_[id].waiting, nullptr);
    if (call) call->answer(202, working_json(id, call->words));
  }

  void on_finished(const finished& m) {
    auto& made = all_[m.id];
    made.patience.cancel();
    made.result = m.result;
    finished_.push_back({now(), m.id});
    if (const auto call = std::exchange(made.waiting, nullptr))
      call->answer(m.result->status, m.result->json);
    while (finished_.size() > defaults::operations_kept)
      forget_oldest();
  }

  void on_asked(const asked& m) {
    if (!m.id) {
      std::vector<std::uint64_t> ids;
      for (const auto& [id, each] : all_)
        ids.push_back(id);
      return m.call->answer(200, operations_json(ids));
    }
    const auto found = all_.find(*m.id);
    if (found == all_.end()) return m.call->answer(unknown_path(*m.call->request));
    if (!found->second.result) return m.call->answer(202, working_json(*m.id, m.call->words));
    m.call->answer(200, found->second.result->json);
  }

  void sweep() {
    while (!finished_.empty() && now() - finished_.front().at > defaults::operation_lifetime)
      forget_oldest();
  }

  void forget_oldest() {
    all_.erase(finished_.front().id);
    finished_.pop_front();
  }

  std::map<std::uint64_t, operation> all_;
  std::deque<end> finished_;  // in order of completion
  runtime::timer sweep_;
};

api::error busy() {
  return api::too_many_requests("too many operations are under way, please try again later", 1);
}

}  // namespace

operations::operations(runtime::actor_system& system)
    : system_{system},
      table_{system.spawn({.kind = "operations", .name = "v1beta1"},
                          runtime::make<operation_table>())} {}

operations::~operations() {
  system_.stop(table_);
}

std::uint64_t operations::begin(const legacy_call_ptr& call, runtime::duration wait) {
  if (++under_way_ <= defaults::operations_kept) {
    const auto id = ++last_;
    if (table_.tell(begun{id, call, wait})) return id;
  }
  --under_way_;
  call->fail(busy());
  return 0;
}

void operations::finish(std::uint64_t id, operation_result result) {
  --under_way_;
  table_.tell(finished{id, std::make_shared<const operation_result>(std::move(result))});
}

void operations::list(const legacy_call_ptr& call) const {
  if (!table_.tell(asked{std::nullopt, call})) call->fail(busy());
}

void operations::show(const legacy_call_ptr& call, std::uint64_t id) const {
  if (!table_.tell(asked{id, call})) call->fail(busy());
}

response unknown_path(const request& request) {
  response out;
  out.status = 404;
  out.content_type = "text/plain; charset=utf-8";
  const auto& query = request.query.raw();
  out.content.add(
      fmt::format("Not Found: \"{}{}{}\"", request.path, query.empty() ? "" : "?", query));
  return out;
}

}  // namespace troupe::server::legacy
