#include "actors/definitions/api_service_registrar.hpp"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/definitions/api_service_rules.hpp"
#include "actors/definitions/defaults.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::apiextensions::v1::CustomResourceDefinition;
using api::apiregistration::v1::APIService;

namespace {

constexpr const char* author = "crd-autoregister";
const std::string no_answer = "no answer";

}  // namespace

api_service_registrar::api_service_registrar(const persistence::store* store, core_actors core)
    : informer{core.watcher}, store_{store}, core_{std::move(core)} {}

const runtime::behavior& api_service_registrar::make_behavior() const {
  static const auto table = runtime::handlers(&api_service_registrar::on_watch_events,
                                              &api_service_registrar::on_watch_ended);
  return table;
}

void api_service_registrar::started() {
  follow(api::kind_of<CustomResourceDefinition>().prefix(),
         [this](const watch_events& m) { on_definitions(m); });
  follow(api::kind_of<APIService>().prefix(),
         [this](const watch_events& m) { on_api_services(m); });
}

std::string api_service_registrar::describe() const {
  return fmt::format("wanted: {}\nexisting: {}\nunderWay: {}\nwaiting: {}\nfailed: {}\n",
                     wanted_.size(), current_.size(), under_way_.size(), dirty_.size(), failed_);
}

// -- messages from the watcher --------------------------------------------------------------------

void api_service_registrar::on_definitions(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    std::vector<std::string> now;
    if (event.type != event_type::deleted)
      now = api_services_of(event.object->as<CustomResourceDefinition>());
    auto& asked = asked_[event.object->meta().name()];
    if (asked != now) {
      for (const auto& name : now)
        if (++wanted_[name] == 1) dirty_.insert(name);
      for (const auto& name : asked) {
        const auto found = wanted_.find(name);
        if (--found->second > 0) continue;
        wanted_.erase(found);
        dirty_.insert(name);
      }
      asked = std::move(now);
    }
    if (event.type == event_type::deleted) asked_.erase(event.object->meta().name());
  }
  settle();
}

void api_service_registrar::on_api_services(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted)
      current_.erase(name);
    else
      current_[name] = event.object;
    dirty_.insert(name);
  }
  settle();
}

// -- writes ---------------------------------------------------------------------------------------

void api_service_registrar::settle() {
  if (!synced()) return;
  for (auto each = dirty_.begin(); each != dirty_.end();) {
    if (under_way_.size() >= defaults::registrations_at_once) return;
    // An APIService with a pending write stays dirty until its answer.
    if (!under_way_.contains(*each)) {
      if (begin_write(*each)) under_way_.insert(*each);
      each = dirty_.erase(each);
    } else {
      ++each;
    }
  }
}

bool api_service_registrar::begin_write(const std::string& name) {
  const auto found = current_.find(name);
  const auto* current = found == current_.end() ? nullptr : found->second.get();
  const auto action = action_for(name, wanted_.contains(name), current);
  if (action == api_service_action::none) return false;
  if (action == api_service_action::remove) {
    request<command_done>(core_.writer,
                          remove{.key = current->kind().key({}, name),
                                 .at = current->revision(),
                                 .cause = {.author = author}},
                          defaults::write_timeout, [this, name](const auto& answer) {
                            const bool refused = answer && !(*answer)->result;
                            written(name, answer && !refused,
                                    refused ? (*answer)->result.error().message : no_answer);
                          });
    return true;
  }
  auto wanted = local_api_service(name, api_management::always);
  if (action == api_service_action::restore) {
    auto changed = current->copy_as<APIService>();
    *changed->mutable_spec() = std::move(*wanted->mutable_spec());
    commit_write(name, succeed(*current, std::move(changed)));
    return true;
  }
  auto made = create_transaction(store_->read(), api::kind_of<APIService>(), std::move(wanted),
                                 checks::done_before, wall_now(), random());
  if (!made) {
    log().info("APIService {} cannot be created: {}", name, made.error().message);
    return false;
  }
  commit_write(name, std::move(*made));
  return true;
}

void api_service_registrar::commit_write(const std::string& name,
                                         persistence::transaction transaction) {
  transaction.cause.author = author;
  request<commit_done>(
      core_.writer, commit{std::make_shared<persistence::transaction>(std::move(transaction))},
      defaults::write_timeout, [this, name](const auto& answer) {
        const bool refused = answer && !(*answer)->result;
        written(name, answer && !refused, refused ? (*answer)->result.error().message : no_answer);
      });
}

// The watch delivers the written object too, which updates `current_`.
void api_service_registrar::written(const std::string& name, bool well, const std::string& reason) {
  under_way_.erase(name);
  if (well) return settle();
  ++failed_;
  log().debug("APIService {} was not written, retrying: {}", name, reason);
  dirty_.insert(name);
  if (!again_.pending()) again_ = after(defaults::try_again, [this] { settle(); });
}

}  // namespace troupe::actors
