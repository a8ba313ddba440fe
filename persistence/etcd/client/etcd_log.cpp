#include "persistence/etcd/client/etcd_log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "persistence/etcd/client/channel.hpp"
#include "persistence/etcd/client/keep_alive_call.hpp"
#include "persistence/etcd/client/requests.hpp"
#include "persistence/etcd/client/watch_call.hpp"

namespace troupe::persistence::etcd {

namespace {

// A page that is not read in time is requested again with a part of its items.
constexpr std::int64_t smaller_page = 8;
constexpr const char* other_cluster = "it belongs to a different cluster than before";

}  // namespace

expected<std::vector<etcd_log::member_ptr>> etcd_log::connect(
    const std::vector<std::string>& endpoints, const credentials& shown) {
  std::vector<member_ptr> members;
  for (const auto& each : endpoints) {
    auto channel = dial(each, shown);
    if (!channel) return fail(std::move(channel.error()));
    members.push_back(std::make_shared<const member>(
        member{each, *channel, etcdserverpb::KV::NewStub(*channel),
               etcdserverpb::Watch::NewStub(*channel), etcdserverpb::Lease::NewStub(*channel)}));
  }
  return members;
}

expected<std::unique_ptr<shared_log>> etcd_log::open(const etcd_options& options) {
  if (options.endpoints.empty()) return fail(errc::invalid, "no etcd endpoint is given");
  credentials shown;
  if (std::any_of(options.endpoints.begin(), options.endpoints.end(), is_secure)) {
    auto read = read_credentials(options);
    if (!read) return fail(std::move(read.error()));
    shown = std::move(*read);
  }
  auto members = connect(options.endpoints, shown);
  if (!members) return fail(std::move(members.error()));
  std::unique_ptr<etcd_log> made{new etcd_log{options, std::move(*members)}};
  if (shown != credentials{})
    made->files_.emplace(options, std::move(shown),
                         [&log = *made](const credentials& changed, const std::stop_token& stop) {
                           return log.use(changed, stop);
                         });
  return made;
}

etcd_log::etcd_log(etcd_options options, std::vector<member_ptr> members)
    : options_{std::move(options)}, members_{std::move(members)} {}

void etcd_log::close() {
  files_.reset();
  queue_.close();
}

etcd_log::member_ptr etcd_log::current() {
  const std::lock_guard lock{mutex_};
  return members_[current_];
}

void etcd_log::leave(const member& failed, const std::string& reason) {
  const std::lock_guard lock{mutex_};
  if (members_[current_].get() != &failed) return;
  current_ = (current_ + 1) % members_.size();
  spdlog::warn("etcd: {} failed, using {} next: {}", failed.endpoint, members_[current_]->endpoint,
               reason);
}

expected<void> etcd_log::use(const credentials& shown, const std::stop_token& stop) {
  auto made = connect(options_.endpoints, shown);
  if (!made) return fail(std::move(made.error()));
  const auto at = [this] {
    const std::lock_guard lock{mutex_};
    return current_;
  }();
  if (auto good = try_out(*(*made)[at], stop); !good) return good;
  const std::lock_guard lock{mutex_};
  members_.swap(*made);
  return {};
}

expected<void> etcd_log::try_out(const member& with, const std::stop_token& stop) const {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options_.read_limit);
  const std::stop_callback cancel{stop, [&] { context.TryCancel(); }};
  etcdserverpb::RangeResponse found;
  const auto status = with.kv->Range(&context, probe(), &found);
  if (status.ok()) return {};
  return fail(errc::io, fmt::format("no answer with them from etcd at {}: {}", with.endpoint,
                                    status.error_message()));
}

void etcd_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  const auto through = current();
  const auto message = message_of(request);
  queue_.call<etcdserverpb::TxnResponse>(
      options_.transaction_limit,
      [&](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
        return through->kv->PrepareAsyncTxn(&context, message, &queue);
      },
      [this, through, request = std::move(request), done = std::move(done)](
          const grpc::Status& status, const etcdserverpb::TxnResponse& response) {
        auto answer = answer_of(request, status, response);
        if (status.ok() && cluster_ != 0 && response.header().cluster_id() != cluster_) {
          answer = {};
          answer.reason = {errc::unknown, other_cluster};
        }
        if (answer.result == log_answer::outcome::unknown) leave(*through, answer.reason.message);
        done(std::move(answer));
      });
}

void etcd_log::range(const member_ptr& of, const etcdserverpb::RangeRequest& request,
                     range_done done) {
  queue_.call<etcdserverpb::RangeResponse>(
      options_.read_limit,
      [&](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
        return of->kv->PrepareAsyncRange(&context, request, &queue);
      },
      [this, of, done = std::move(done)](const grpc::Status& answered,
                                         etcdserverpb::RangeResponse& response) {
        const bool is_other =
            answered.ok() && cluster_ != 0 && response.header().cluster_id() != cluster_;
        const auto status =
            is_other ? grpc::Status{grpc::StatusCode::UNKNOWN, other_cluster} : answered;
        if (!status.ok() && !is_refusal(status)) leave(*of, status.error_message());
        done(status, response);
      });
}

void etcd_log::identity(std::function<void(expected<std::string>)> done) {
  range(current(), probe(),
        [this, done = std::move(done)](const grpc::Status& status, const auto& found) {
          if (!status.ok()) return done(fail(error_of(status)));
          cluster_ = found.header().cluster_id();
          done(fmt::format("{:016x}", cluster_));
        });
}

void etcd_log::newest(std::function<void(expected<revision>)> done) {
  range(current(), probe(),
        [done = std::move(done)](const grpc::Status& status, const auto& found) {
          if (!status.ok()) return done(fail(error_of(status)));
          done(static_cast<revision>(found.header().revision()));
        });
}

void etcd_log::read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) {
  etcdserverpb::RangeRequest request;
  request.set_key(std::move(key));
  range(current(), request, [done = std::move(done)](const grpc::Status& status, auto& found) {
    if (!status.ok()) return done(fail(error_of(status)));
    auto page = page_of(0, found);
    if (page.items.empty()) return done(std::nullopt);
    done(std::move(page.items.front()));
  });
}

void etcd_log::list(log_range wanted, std::function<void(expected<log_page>)> done) {
  etcdserverpb::RangeRequest request;
  request.set_key(std::move(wanted.after) + '\0');
  request.set_range_end(std::string(1, '\0'));
  request.set_limit(wanted.keys_only ? page_limit : page_items_.load());
  request.set_revision(static_cast<std::int64_t>(wanted.at));
  request.set_keys_only(wanted.keys_only);
  list_page(request, std::move(done));
}

void etcd_log::list_page(const etcdserverpb::RangeRequest& request,
                         std::function<void(expected<log_page>)> done) {
  range(current(), request,
        [this, request = request, done = std::move(done)](const grpc::Status& status,
                                                          auto& found) mutable {
          const bool is_late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
          if (is_late && request.limit() > 1) {
            request.set_limit(std::max<std::int64_t>(request.limit() / smaller_page, 1));
            return list_page(request, std::move(done));
          }
          if (!status.ok()) return done(fail(error_of(status)));
          if (!request.keys_only()) page_items_ = next_page_items(found);
          done(page_of(static_cast<revision>(request.revision()), found));
        });
}

void etcd_log::grant(std::chrono::seconds time_to_live,
                     std::function<void(expected<lease_id>)> done) {
  etcdserverpb::LeaseGrantRequest request;
  request.set_ttl(time_to_live.count());
  const auto through = current();
  queue_.call<etcdserverpb::LeaseGrantResponse>(
      options_.read_limit,
      [&](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
        return through->lease->PrepareAsyncLeaseGrant(&context, request, &queue);
      },
      [done = std::move(done)](const grpc::Status& status, const auto& given) {
        if (!status.ok()) return done(fail(error_of(status)));
        done(given.id());
      });
}

void etcd_log::renew(lease_id lease, std::chrono::milliseconds limit,
                     std::function<void(expected<std::chrono::seconds>)> done) {
  const auto through = current();
  auto made = std::make_unique<keep_alive_call>(
      queue_, lease,
      [this, through, done = std::move(done)](const grpc::Status& status, std::int64_t left) {
        if (status.ok()) return done(std::chrono::seconds{left});
        if (!is_refusal(status)) leave(*through, status.error_message());
        done(fail(error_of(status)));
      });
  auto& mine = *made;
  queue_.begin(std::move(made), [&](grpc::CompletionQueue& queue, tag*) {
    mine.start(*through->lease, std::min(limit, options_.read_limit), queue);
  });
}

void etcd_log::revoke(lease_id lease, std::function<void()> done) {
  etcdserverpb::LeaseRevokeRequest request;
  request.set_id(lease);
  const auto through = current();
  queue_.call<etcdserverpb::LeaseRevokeResponse>(
      options_.read_limit,
      [&](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
        return through->lease->PrepareAsyncLeaseRevoke(&context, request, &queue);
      },
      [done = std::move(done)](const grpc::Status&, const auto&) { done(); });
}

void etcd_log::compact(revision up_to, std::function<void(expected<void>)> done) {
  etcdserverpb::CompactionRequest request;
  request.set_revision(static_cast<std::int64_t>(up_to));
  const auto through = current();
  queue_.call<etcdserverpb::CompactionResponse>(
      options_.read_limit,
      [&](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
        return through->kv->PrepareAsyncCompact(&context, request, &queue);
      },
      [done = std::move(done)](const grpc::Status& status, const auto&) {
        if (!status.ok()) return done(fail(error_of(status)));
        done({});
      });
}

void etcd_log::call_later(std::chrono::milliseconds delay, std::function<void()> work) {
  queue_.call_later(delay, std::move(work));
}

// The member must be in the quorum and have reached the reader's revision: before 3.4.38 a watch
// from a revision that the member does not know yet is answered wrongly.
void etcd_log::follow(revision after, log_reader& reader) {
  const auto serial = ++watch_serial_;
  if (std::exchange(watching_, false)) leave(*current(), "its watch has stopped");
  const auto through = current();
  range(through, probe(),
        [this, through, &reader, after, serial](const grpc::Status& status, const auto& found) {
          if (serial != watch_serial_) return;
          if (!status.ok()) return reader.on_end(error_of(status));
          if (static_cast<revision>(found.header().revision()) >= after)
            return watch(through, after, reader, serial);
          const auto* problem = "it is behind the known revision";
          leave(*through, problem);
          reader.on_end({errc::unknown, fmt::format("{}: {}", through->endpoint, problem)});
        });
}

void etcd_log::watch(const member_ptr& of, revision after, log_reader& reader,
                     std::uint64_t serial) {
  watching_ = true;
  auto made = std::make_unique<watch_call>(
      queue_, watch_call::ends{[this, &reader, serial](std::vector<log_step> steps) {
                                 if (serial != watch_serial_) return false;
                                 reader.on_steps(std::move(steps));
                                 return serial == watch_serial_;
                               },
                               [this, of, &reader, serial](error reason) {
                                 if (serial != watch_serial_) return;
                                 watching_ = false;
                                 if (reason.code != errc::compacted) leave(*of, reason.message);
                                 reader.on_end(std::move(reason));
                               }});
  auto& mine = *made;
  queue_.begin(std::move(made),
               [&](grpc::CompletionQueue& queue, tag*) { mine.start(*of->watch, after, queue); });
}

}  // namespace troupe::persistence::etcd
