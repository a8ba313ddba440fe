#include "actors/write/write_service.hpp"

#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "actors/core/condition.hpp"
#include "actors/core/store_error.hpp"
#include "actors/write/admission/service_allocations.hpp"
#include "actors/write/review.hpp"
#include "actors/write/review_order.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {
namespace {

using persistence::errc;
using persistence::snapshot;

std::mt19937_64& random_source() {
  thread_local std::mt19937_64 engine{[] {
    std::random_device seed;
    return static_cast<std::uint64_t>(seed()) << 32 | seed();
  }()};
  return engine;
}

write_result result_of_dry_run(write_plan& plan) {
  auto& first = plan.transaction.mutations.front();
  const bool removed = first.content == nullptr;
  const bool created = !plan.before;
  if (plan.shown || removed) return {plan.shown ? plan.shown : plan.before, created, removed};
  const auto revision = plan.before ? plan.before->revision() : 0;
  return {std::make_shared<const api::object>(*first.kind, std::move(first.content), revision),
          created, false};
}

std::string name_in(const std::string& key) {
  return key.substr(key.rfind('/') + 1);
}

}  // namespace

struct write_service::attempt {
  write_request request;
  api::kind_handle kind = {};
  std::string name = {};            // of the object of the last attempt; a create has none at first
  admission::remarks remarks = {};  // of the draft of the last attempt
  int left = defaults::write_attempts;
  int draws_left = defaults::allocation_attempts;
  bool is_newest = false;  // the snapshot is as new as the whole cluster's state

  void succeed(write_result result, bool committing = false) {
    request.done({std::move(result), committing, std::move(remarks)});
  }
  void fail(api::error error, bool committing = false) {
    request.done({api::fail(std::move(error)), committing, std::move(remarks)});
  }
};

struct write_service::impl final : review_host, std::enable_shared_from_this<write_service::impl> {
  using attempt_ptr = std::shared_ptr<attempt>;

  impl(persistence::store& store, const runtime::clock& time, write_options options)
      : store{store},
        time{time},
        capacity{std::move(options.capacity)},
        quotas{std::move(options.quotas)},
        own_chain{std::move(options.chain)},
        chain{own_chain ? *own_chain : admission::built_in_chain()},
        threads{options.threads} {
    if (threads)
      pool = std::make_unique<runtime::worker_pool>("write-again", 1, defaults::write_again_queue);
  }

  // -- one attempt --------------------------------------------------------------------------------

  void go(const attempt_ptr& a) {
    const auto state = store.read();
    auto proposed = a->request.propose(state);
    if (!proposed) return refuse(a, std::move(proposed.error()));
    a->kind = proposed->kind;
    draft write{std::move(*proposed), a->request.by, a->request.dry_run, chain};
    const auto context = context_of(state);
    if (auto fine = prepare(write, context); !fine) return refuse(a, write, fine.error());
    if (!write.row.external.empty() && !write.of.settled)
      return start_external_steps(a, std::move(write));
    if (auto fine = check(write, context); !fine) return refuse(a, write, fine.error());
    conclude(a, write, context);
  }

  void refuse(const attempt_ptr& a, draft& write, api::error& error) {
    a->remarks = std::move(write.remarks);
    refuse(a, std::move(error));
  }

  // With other writers in the cluster the local state may be stale, which must not reject a write:
  // it is evaluated again, after a barrier.
  void refuse(const attempt_ptr& a, api::error error) {
    if (!store.is_shared() || std::exchange(a->is_newest, true)) return a->fail(std::move(error));
    store.barrier([self = shared_from_this(), a, error = std::move(error)](
                      const persistence::expected<persistence::revision>& reached) {
      if (!reached)
        return a->fail(api::timed_out("the store does not answer: " + reached.error().message, 1));
      if (!self->post([self, a] { self->go(a); })) a->fail(error);
    });
  }

  void start_external_steps(const attempt_ptr& a, draft write) {
    const auto waiting = std::make_shared<draft>(std::move(write));
    review(shared_from_this(), waiting, [self = shared_from_this(), a, waiting](auto fine) {
      if (!fine) return self->refuse(a, *waiting, fine.error());
      const auto state = self->store.read();
      self->conclude(a, *waiting, self->context_of(state));
    });
  }

  void conclude(const attempt_ptr& a, draft& write, const write_context& context) {
    a->remarks = std::move(write.remarks);
    if (auto fine = check_absent(write, context); !fine) return refuse(a, std::move(fine.error()));
    auto plan = finish(write, context);
    if (!plan) return refuse(a, std::move(plan.error()));
    if (plan->transaction.mutations.empty()) return a->succeed({plan->before, false, false});
    if (a->request.dry_run) {
      if (auto fine = check_quotas(*plan); !fine) return refuse(a, std::move(fine.error()));
      return a->succeed(result_of_dry_run(*plan));
    }
    commit(a, std::move(*plan));
  }

  void commit(const attempt_ptr& a, write_plan plan) {
    const auto& first = plan.transaction.mutations.front();
    a->name = name_in(first.key);
    if (a->request.false_conflicts > 0) {
      --a->request.false_conflicts;
      ++conflicts;
      return again(a, {.code = errc::conflict, .message = "an injected conflict", .key = first.key},
                   false);
    }
    const bool removed = first.content == nullptr;
    plan.transaction.cause = a->request.cause;
    plan.transaction.fence = a->request.fence;
    ++under_way;
    send(std::move(plan.transaction),
         [self = shared_from_this(), a, removed, created = !plan.before,
          shown = std::move(plan.shown)](persistence::outcome result) {
           self->note(result);
           if (!result) return self->again(a, result.error(), true);
           a->succeed({shown ? shown : result->objects.front(), created, removed}, true);
         });
  }

  // A number drawn by the server is drawn again by the server, and a conflict with another control
  // plane about a quota is not the client's: both are repeated more often.
  void again(const attempt_ptr& a, const persistence::error& error, bool committing) {
    const bool ours =
        is_allocation_key(error.key) || error.key.starts_with(persistence::group_prefix);
    auto& left = ours ? a->draws_left : a->left;
    const bool may = error.code == errc::conflict && --left > 0;
    if (may && post([self = shared_from_this(), a] { self->go(a); })) return;
    // Another control plane may have deleted objects meanwhile.
    if (error.code == errc::exceeded && store.is_shared())
      return refuse(a, to_api_error(error, *a->kind, a->name));
    a->fail(to_api_error(error, *a->kind, a->name), committing);
  }

  // -- transactions of controllers ----------------------------------------------------------------

  void submit(persistence::transaction transaction, persistence::completion done) {
    ++under_way;
    auto counted = [self = shared_from_this(),
                    done = std::move(done)](persistence::outcome result) {
      self->note(result);
      done(std::move(result));
    };
    if (!chain.has_external_steps()) return send(std::move(transaction), std::move(counted));
    review_creations(std::make_shared<persistence::transaction>(std::move(transaction)), 0,
                     order.begin(), std::move(counted));
  }

  void barrier(persistence::barrier_completion done) {
    if (!chain.has_external_steps()) return store.barrier(std::move(done));
    order.after_pending([self = shared_from_this(), done = std::move(done)]() mutable {
      self->store.barrier(std::move(done));
    });
  }

  // External steps review creations by controllers; a rejection is reported as `invalid`.
  void review_creations(std::shared_ptr<persistence::transaction> transaction, std::size_t index,
                        std::uint64_t id, persistence::completion done) {
    auto& all = transaction->mutations;
    while (index < all.size() && !is_asked_about(*transaction, all[index]))
      ++index;
    if (index == all.size()) {
      send(std::move(*transaction), std::move(done));
      return order.end(id);
    }
    const auto write = std::make_shared<draft>(
        proposal{
            .kind = all[index].kind, .after = std::move(all[index].content), .validated = true},
        admission::controllers(), false, chain);
    review(shared_from_this(), write,
           [self = shared_from_this(), transaction, index, id, write, done](auto fine) {
             if (!fine) {
               done(persistence::fail(errc::invalid, std::move(fine.error().message)));
               return self->order.end(id);
             }
             transaction->mutations[index].content = std::move(write->of.after);
             self->review_creations(transaction, index + 1, id, done);
           });
  }

  bool is_asked_about(const persistence::transaction& transaction,
                      const persistence::mutation& each) const {
    if (each.content == nullptr) return false;
    const auto absent = [&](const auto& demanded) {
      return demanded.at == 0 && demanded.key == each.key;
    };
    const auto& demanded = transaction.preconditions;
    return std::any_of(demanded.begin(), demanded.end(), absent) &&
           !chain.find(*each.kind, admission::operation::create, false).external.empty();
  }

  // -- to the store -------------------------------------------------------------------------------

  void send(persistence::transaction transaction, persistence::completion done) {
    follow_services(store, transaction);
    if (capacity) capacity->limit(transaction);
    const auto held = quotas ? quotas->reserve(transaction, seconds_of(time.wall_now())) : 0;
    if (!held) return done(persistence::fail(held.error()));
    if (*held != 0)
      done = [quotas = quotas, held = *held, done = std::move(done)](persistence::outcome result) {
        quotas->release(held);
        done(std::move(result));
      };
    store.submit(std::move(transaction), std::move(done));
  }

  // Checks the quotas without a reservation.
  api::expected<void> check_quotas(write_plan& plan) {
    if (!quotas) return {};
    const auto held = quotas->reserve(plan.transaction, seconds_of(time.wall_now()));
    if (held) return quotas->release(*held), api::expected<void>{};
    const auto& first = plan.transaction.mutations.front();
    return api::fail(to_api_error(held.error(), *first.kind, name_in(first.key)));
  }

  void note(const persistence::outcome& result) {
    --under_way;
    ++(result ? committed : result.error().code == errc::conflict ? conflicts : failed);
  }

  // -- threads ------------------------------------------------------------------------------------

  bool post(std::function<void()> job) {
    if (!threads) {
      job();
      return true;
    }
    const std::lock_guard lock{pool_mutex};
    return pool && pool->post(std::move(job));
  }

  void close() {
    asked->close();
    std::unique_ptr<runtime::worker_pool> ending;
    const std::unique_lock lock{pool_mutex};
    ending = std::move(pool);
  }

  // -- for reviews --------------------------------------------------------------------------------

  external_calls& calls() override { return *asked; }
  runtime::time_point now() const override { return time.now(); }
  void resume(std::function<void()> step) override {
    if (!post(step)) step();
  }
  api::expected<void> prepare_again(draft& write) override {
    const auto state = store.read();
    return prepare(write, context_of(state));
  }
  api::expected<void> check_now(draft& write) override {
    const auto state = store.read();
    return check(write, context_of(state));
  }

  write_context context_of(const snapshot& state) const {
    return {chain, state, time.wall_now(), random_source()};
  }

  persistence::store& store;
  const runtime::clock& time;
  const std::shared_ptr<const actors::capacity> capacity;
  const std::shared_ptr<quota::quota_ledger> quotas;
  const std::shared_ptr<const admission::chain> own_chain;
  const admission::chain& chain;
  const bool threads;
  const std::shared_ptr<external_calls> asked = std::make_shared<external_calls>();
  review_order order;
  std::mutex pool_mutex;
  std::unique_ptr<runtime::worker_pool> pool;
  std::atomic<std::uint64_t> committed{0}, conflicts{0}, failed{0}, under_way{0};
};

write_service::write_service(persistence::store& store, const runtime::clock& time,
                             write_options options)
    : impl_{std::make_shared<impl>(store, time, std::move(options))} {}

write_service::~write_service() {
  impl_->close();
}

void write_service::carry_out(write_request request) {
  impl_->go(std::make_shared<attempt>(attempt{std::move(request)}));
}

void write_service::submit(persistence::transaction transaction, persistence::completion done) {
  impl_->submit(std::move(transaction), std::move(done));
}

void write_service::barrier(persistence::barrier_completion done) {
  impl_->barrier(std::move(done));
}

bool write_service::has_external_steps() const noexcept {
  return impl_->chain.has_external_steps();
}

void write_service::expire() {
  impl_->asked->expire(impl_->time.now());
}

write_service::counts write_service::count() const {
  const auto& from = *impl_;
  return {from.committed, from.conflicts, from.failed, from.under_way, from.asked->waiting()};
}

}  // namespace troupe::actors
