#include "actors/controllers/kit/reconciler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/controllers/kit/defaults.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/finalizers.hpp"
#include "actors/core/log.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/strategy/strategy.hpp"

namespace troupe::actors {
namespace {

// The message of a failed answer.
template <class Answer>
std::string_view problem_of(const Answer& answered) {
  if (!answered) return runtime::to_string(answered.error());
  return (*answered)->result.error().message;
}

// True for a rejection; a conflict is normal and not one.
template <class Answer>
bool is_refusal(const Answer& answered) {
  return answered && (*answered)->result.error().code != persistence::errc::conflict;
}

}  // namespace

reconciler::reconciler(std::string key, controller_context_ptr context)
    : key_{std::move(key)}, context_{std::move(context)} {}

const runtime::behavior& reconciler::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &reconciler::on_owner_event, &reconciler::on_dependent, &reconciler::on_observed,
      &reconciler::on_resync_request, &reconciler::on_sync_due);
  return table;
}

void reconciler::started() {
  resync_timer_ = every(defaults::resync_period, [this] { resync(); });
  resync();
}

std::string reconciler::describe() const {
  return fmt::format("key: {}\nloaded: {}\ndependents: {}\nsyncing: {}\nsyncs: {}\n", key_, loaded_,
                     dependents_.size(), syncing_, syncs_);
}

// -- messages from the supervisor -----------------------------------------------------------------

void reconciler::on_owner_event(const owner_event& change) {
  if (change.gone) return stop();
  if (!loaded_ || change.at <= known_) return;
  if (change.object->revision() <= owner_->revision()) return;
  take_owner(change.object);
  enqueue();
}

void reconciler::on_dependent(const dependent_event& change) {
  const auto& event = change.event;
  if (!loaded_ || event.at <= known_) return;
  const auto key = api::key_of(*event.object);
  if (!is_new_version(key, *event.object)) return;
  if (event.type == event_type::deleted) {
    drop_dependent(key);
  } else {
    take_dependent(key, event.object);
  }
  enqueue();
}

void reconciler::on_observed(const observed_event& change) {
  if (!loaded_ || change.event.at <= known_) return;
  keep_observed(change.event);
  if (take_observed(change.event)) enqueue();
}

void reconciler::on_resync_request(const resync_request&) {
  resync();
}

// -- state ----------------------------------------------------------------------------------------

void reconciler::resync() {
  stale_ = true;
  enqueue();
}

void reconciler::await_barrier() {
  waiting_ = true;
  loaded_ = stale_ = false;
  request<barrier_done>(context_->core.writer, barrier{}, defaults::write_timeout,
                        [this](const auto& answered) {
                          if (answered && (*answered)->reached) return load();
                          wake_timer_ = after(defaults::barrier_retry, [this] { await_barrier(); });
                        });
}

// No write is in flight: each earlier one is in the snapshot or will never be.
void reconciler::load() {
  const auto state = read_store();
  const auto object = state.find(key_);
  if (!object) return stop();
  loaded_ = true;
  waiting_ = false;
  known_ = state.at();
  owner_ = object;
  selector_ = selector_by(context_->owner.selector_of, *owner_);
  observes_ = selector_by(context_->owner.observes, *owner_);
  forget_all();
  to_claim_.clear();
  observed_.clear();
  observed_at_ = 0;
  owner_changed();
  for (const auto* kind : context_->dependents)
    state.scan(kind->prefix(dependents_namespace()), {},
               [this](std::string_view key, const api::object_ptr& each) {
                 if (classify_dependent(*each) != claim::ignore)
                   take_dependent(std::string{key}, each);
                 return true;
               });
  enqueue();
}

// Reloads if the owner is another object, or its selector and thus its dependents changed.
void reconciler::take_owner(const api::object_ptr& object) {
  if (object->meta().uid() != owner_->meta().uid() ||
      selector_by(context_->owner.selector_of, *object) != selector_ ||
      selector_by(context_->owner.observes, *object) != observes_)
    return resync();
  owner_ = object;
  owner_changed();
}

const std::string& reconciler::dependents_namespace() const {
  const auto& meta = owner_->meta();
  return context_->owner.dependent_name.empty() ? meta.namespace_() : meta.name();
}

claim reconciler::classify_dependent(const api::object& dependent) const {
  if (const auto& name = context_->owner.dependent_name; !name.empty())
    return dependent.meta().name() == name ? claim::keep : claim::ignore;
  if (context_->owner.selector_of != nullptr) return classify(owner_->meta(), selector_, dependent);
  return controller_uid(dependent) == owner_->meta().uid() ? claim::keep : claim::ignore;
}

void reconciler::take_dependent(const std::string& key, const api::object_ptr& object) {
  const auto verdict = classify_dependent(*object);
  if (verdict == claim::keep) {
    to_claim_.erase(key);
    return take(key, object);
  }
  drop_dependent(key);
  if (verdict != claim::ignore && claimable(object)) to_claim_.emplace(key, object);
}

void reconciler::drop_dependent(const std::string& key) {
  to_claim_.erase(key);
  forget(key);
}

// False for an event that is older than the answer of a write.
bool reconciler::is_new_version(const std::string& key, const api::object& dependent) const {
  const auto claimed = to_claim_.find(key);
  const auto* known = claimed != to_claim_.end() ? claimed->second.get() : find(key);
  return known == nullptr || known->revision() < dependent.revision();
}

void reconciler::refresh(const std::string& key) {
  const auto present = read_store().find(key);
  if (key != key_) return present ? take_dependent(key, present) : drop_dependent(key);
  if (!present || present->revision() <= owner_->revision()) return;
  // The pending event of this change will be ignored.
  const auto& was = owner_->meta();
  const auto& is = present->meta();
  if (is.generation() != was.generation() ||
      is.has_deletion_timestamp() != was.has_deletion_timestamp())
    enqueue();
  take_owner(present);
}

void reconciler::take(const std::string& key, const api::object_ptr& dependent) {
  dependents_[key] = dependent;
}

void reconciler::forget(const std::string& key) {
  dependents_.erase(key);
}

void reconciler::forget_all() {
  dependents_.clear();
}

void reconciler::scan_observed(
    const persistence::snapshot& state,
    const std::function<void(std::string_view, const api::object_ptr&)>& visit) {
  for (const auto* kind : context_->observed)
    state.scan(kind->prefix(owner_->meta().namespace_()), {},
               [&](std::string_view key, const api::object_ptr& each) {
                 ++scanned_;
                 if (observes_.matches(each->meta().labels())) visit(key, each);
                 return true;
               });
}

const reconciler::objects& reconciler::observed() {
  if (observed_at_ == 0) {
    const auto state = read_store();
    scan_observed(state, [this](auto key, const auto& each) { observed_.emplace(key, each); });
    observed_at_ = state.at();
  }
  count_scanned(observed_.size());
  return observed_;
}

void reconciler::keep_observed(const watch_event& event) {
  if (observed_at_ == 0 || event.at <= observed_at_) return;
  auto key = api::key_of(*event.object);
  if (event.type != event_type::deleted && observes_.matches(event.object->meta().labels()))
    observed_[std::move(key)] = event.object;
  else
    observed_.erase(key);
}

std::vector<api::object_ptr> reconciler::observed_in_store() {
  std::vector<api::object_ptr> found;
  scan_observed(read_store(), [&](auto, const auto& each) { found.push_back(each); });
  return found;
}

const api::object* reconciler::find(const std::string& key) const {
  const auto found = dependents_.find(key);
  return found == dependents_.end() ? nullptr : found->second.get();
}

api::object_ptr reconciler::owner_in_store() const {
  auto fresh = read_store().find(key_);
  return fresh && fresh->meta().uid() == owner_->meta().uid() ? fresh : nullptr;
}

std::string reconciler::authority() const {
  return settings().authority ? settings().authority->certificates() : std::string{};
}

std::int64_t reconciler::wall_seconds() const {
  return seconds_of(wall_now());
}

// -- when to sync ---------------------------------------------------------------------------------

void reconciler::enqueue() {
  dirty_ = true;
  if (syncing_ || due_) return;
  due_ = true;
  tell(self(), sync_due{});
}

void reconciler::enqueue_in(runtime::duration delay) {
  const auto at = now() + std::max(delay, runtime::duration{0});
  if (wake_timer_.pending() && wake_at_ <= at) return;
  wake_at_ = at;
  wake_timer_ = after(at - now(), [this] { enqueue(); });
}

void reconciler::enqueue_in_seconds(std::int64_t delay) {
  constexpr auto longest = std::chrono::seconds{defaults::resync_period}.count();
  enqueue_in(std::chrono::seconds{std::min<std::int64_t>(delay, longest)});
}

void reconciler::on_sync_due(const sync_due&) {
  due_ = false;
  if (syncing_ || waiting_) return;
  if (stale_) return await_barrier();
  if (!loaded_ || !dirty_) return;
  if (now() < earliest_) return enqueue_in(earliest_ - now());
  begin_sync();
}

// -- one sync -------------------------------------------------------------------------------------

void reconciler::begin_sync() {
  ++syncs_;
  syncing_ = true;
  dirty_ = failed_ = false;
  wake_timer_.cancel();
  then(&reconciler::sync);
  if (!to_claim_.empty()) send_claims();
  settle();
}

void reconciler::send_claims() {
  std::size_t adopted = 0, released = 0;
  for (const auto& [key, dependent] : std::exchange(to_claim_, {})) {
    const auto sent = send_claim(key, dependent);
    adopted += sent == claim::adopt;
    released += sent == claim::release;
  }
  if (adopted + released > 0)
    log_decision(fmt::format("adopts {} and releases {} objects", adopted, released));
}

// Adopts only after a fresh read of the owner, with the owner's revision as a precondition: an
// owner that was deleted and created again under the same name adopts nothing by mistake, and one
// that is being deleted adopts nothing. Returns the claim that was sent, `ignore` if none was.
claim reconciler::send_claim(const std::string& key, const api::object_ptr& dependent) {
  const auto verdict = classify_dependent(*dependent);
  persistence::transaction transaction;
  transaction.preconditions = {{key, dependent->revision()}};
  auto changed = dependent->copy();
  if (verdict == claim::adopt) {
    const auto fresh = owner_in_store();
    if (!fresh || fresh->meta().has_deletion_timestamp()) return claim::ignore;
    transaction.preconditions.push_back({key_, fresh->revision()});
    add_controller_reference(*owner_, api::meta_of(*changed));
    set_finalizer(api::meta_of(*changed), context_->owner.finalizer, true);
  } else if (verdict == claim::release) {
    remove_controller_reference(*owner_, api::meta_of(*changed));
    set_finalizer(api::meta_of(*changed), context_->owner.finalizer, false);
    if (api::ends_deletion(dependent->kind(), *changed, dependent->content())) changed.reset();
  } else {
    return claim::ignore;
  }
  transaction.mutations.push_back({key, &dependent->kind(), std::move(changed)});
  write(verdict == claim::adopt ? "adopts" : "releases", std::move(transaction), {});
  return verdict;
}

void reconciler::write(const char* action, persistence::transaction transaction, on_success done,
                       on_refusal refused) {
  auto key = transaction.mutations.front().key;
  send_transaction(std::move(transaction),
                   [this, action, key = std::move(key), done = std::move(done),
                    refused = std::move(refused)](const answer<commit_done>& answered) {
                     refresh(key);
                     if (!answered || !(*answered)->result) {
                       log_failure(action, key, problem_of(answered));
                       if (refused && is_refusal(answered))
                         refused((*answered)->result.error().message);
                       return retry();
                     }
                     log_step(action, key, (*answered)->result->at);
                     if (done) done();
                     enqueue();
                   });
}

api::expected<void> reconciler::create(std::unique_ptr<api::body> content, on_success done,
                                       on_refusal refused) {
  return create_named(
      std::move(content),
      [done = std::move(done)](const std::string&) {
        if (done) done();
      },
      std::move(refused));
}

api::expected<void> reconciler::create_named(std::unique_ptr<api::body> content, on_created done,
                                             on_refusal refused) {
  if (context_->owner.dependent_name.empty())
    add_controller_reference(*owner_, api::meta_of(*content));
  return create_beside(std::move(content), std::move(done), std::move(refused));
}

api::expected<void> reconciler::create_beside(std::unique_ptr<api::body> content, on_created done,
                                              on_refusal refused) {
  const auto& kind = api::kind_of_type(*content->GetDescriptor());
  auto transaction =
      create_transaction(read_store(), kind, std::move(content), checks::all, wall_now(), random());
  if (!transaction) return api::fail(std::move(transaction.error()));
  const auto& key = transaction->mutations.front().key;
  auto name = key.substr(key.rfind('/') + 1);
  write(
      "creates", std::move(*transaction),
      [done = std::move(done), name = std::move(name)] { done(name); }, std::move(refused));
  return {};
}

void reconciler::replace(const api::object_ptr& before, std::unique_ptr<api::body> after,
                         on_success done) {
  auto key = api::key_of(*before);
  persistence::transaction transaction;
  transaction.preconditions = {{key, before->revision()}};
  transaction.mutations.push_back({std::move(key), &before->kind(), std::move(after)});
  write("changes", std::move(transaction), std::move(done));
}

void reconciler::remove_dependent(const api::object_ptr& dependent, on_success done) {
  auto key = api::key_of(*dependent);
  ask_writer<command_done>(
      remove{.key = key,
             .uid = dependent->meta().uid(),
             .at = dependent->revision(),
             .cause = change_cause()},
      [this, key, at = dependent->revision(),
       done = std::move(done)](const answer<command_done>& answered) {
        refresh(key);
        if (answered && ((*answered)->result || (*answered)->result.error().code == 404)) {
          log_step("removes", key, at);
          if (done) done();
          return;
        }
        log_failure("removes", key, problem_of(answered));
        retry();
      });
}

void reconciler::answer_taken(bool answered) {
  // The write may still happen: the resync after a barrier shows it.
  if (!answered) stale_ = failed_ = true;
  --under_way_;
  settle();
}

// Continues the sync once no write is in flight.
void reconciler::settle() {
  while (syncing_ && under_way_ == 0) {
    if (next_ == nullptr) return end_sync();
    (this->*std::exchange(next_, nullptr))();
  }
}

void reconciler::end_sync() {
  syncing_ = false;
  earliest_ =
      now() + std::max<runtime::duration>(defaults::pause_per_object * std::exchange(scanned_, 0),
                                          std::exchange(pause_, runtime::duration{0}));
  if (failed_) {
    backoff_ = std::clamp<runtime::duration>(backoff_ * 2, defaults::sync_retry_first,
                                             defaults::sync_retry_longest);
    log().debug("{} {}: the sync failed, the next one is in {} ms", context_->owner.component, key_,
                std::chrono::duration_cast<std::chrono::milliseconds>(backoff_).count());
    enqueue_in(backoff_);
  } else {
    backoff_ = runtime::duration{0};
  }
  after_sync();
  if (dirty_) enqueue();
}

// -- the log --------------------------------------------------------------------------------------

void reconciler::log_decision(std::string_view decision) const {
  log().info("{} {} at revision {} {}", context_->owner.component, key_, owner_->revision(),
             decision);
}

void reconciler::log_step(std::string_view action, std::string_view key,
                          persistence::revision at) const {
  log().debug("{} {}: {} {} at revision {}", context_->owner.component, key_, action, key, at);
}

void reconciler::log_failure(std::string_view action, std::string_view key,
                             std::string_view problem) const {
  log().debug("{} {}: {} {} without success: {}", context_->owner.component, key_, action, key,
              problem);
}

// -- events and causes ----------------------------------------------------------------------------

void reconciler::record(bool warning, std::string reason, std::string message) {
  tell(context_->core.recorder, record_event{.about = owner_,
                                             .warning = warning,
                                             .reason = std::move(reason),
                                             .message = std::move(message),
                                             .component = context_->owner.component,
                                             .field_path = {},
                                             .host = {}});
}

persistence::change_cause reconciler::change_cause() const {
  const auto& meta = owner_->meta();
  return {.request = current_cause().request,
          .trigger = current_cause().revision,
          .author = context_->owner.component + "/" + meta.namespace_() + "/" + meta.name()};
}

}  // namespace troupe::actors
