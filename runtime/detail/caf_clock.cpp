#include "runtime/detail/caf_clock.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/error.hpp>
#include <caf/group.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/sec.hpp>
#include <caf/system_messages.hpp>

namespace troupe::runtime {

caf::actor_clock::time_point caf_clock::now() const noexcept {
  return time_.now();
}

void caf_clock::set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                                     std::uint64_t id) {
  cancel_ordinary_timeout(self, type);
  auto e = std::make_unique<entry>();
  e->owner = self->id();
  e->type = kind::ordinary;
  e->key = static_cast<std::uint64_t>(type);
  e->deliver = [to = caf::strong_actor_ptr{self->ctrl()}, type, id] {
    to->get()->eq_impl(caf::make_message_id(), to, nullptr, caf::timeout_msg{type, id});
  };
  add(t, std::move(e));
}

void caf_clock::set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                                  std::uint64_t id) {
  auto e = std::make_unique<entry>();
  e->owner = self->id();
  e->type = kind::multi;
  e->key = id;
  e->deliver = [to = caf::strong_actor_ptr{self->ctrl()}, type, id] {
    to->get()->eq_impl(caf::make_message_id(), to, nullptr, caf::timeout_msg{type, id});
  };
  add(t, std::move(e));
}

void caf_clock::set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) {
  auto e = std::make_unique<entry>();
  e->owner = self->id();
  e->type = kind::request;
  e->key = id.integer_value();
  e->deliver = [to = caf::strong_actor_ptr{self->ctrl()}, id] {
    to->get()->eq_impl(id, to, nullptr, caf::make_error(caf::sec::request_timeout));
  };
  add(t, std::move(e));
}

void caf_clock::cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) {
  extract(self->id(), [&](const entry& e) {
    return e.type == kind::ordinary && e.key == static_cast<std::uint64_t>(type);
  });
}

void caf_clock::cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) {
  extract(self->id(),
          [&](const entry& e) { return e.type == kind::request && e.key == id.integer_value(); });
}

void caf_clock::cancel_timeouts(caf::abstract_actor* self) {
  extract(self->id(), [](const entry&) { return true; });
}

void caf_clock::schedule_message(time_point t, caf::strong_actor_ptr receiver,
                                 caf::mailbox_element_ptr content) {
  auto e = std::make_unique<entry>();
  e->deliver = [to = std::move(receiver), content = std::move(content)]() mutable {
    to->enqueue(std::move(content), nullptr);
  };
  add(t, std::move(e));
}

void caf_clock::schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender,
                                 caf::message content) {
  auto e = std::make_unique<entry>();
  e->deliver = [to = std::move(target), from = std::move(sender), content = std::move(content)] {
    to->eq_impl(caf::make_message_id(), from, nullptr, content);
  };
  add(t, std::move(e));
}

void caf_clock::cancel_all() {
  decltype(entries_) all;  // destroyed after the lock is released
  std::lock_guard lock{mutex_};
  for (auto& [id, e] : entries_)
    timers_.remove(e->node);
  all.swap(entries_);
  by_owner_.clear();
}

void caf_clock::stop() {
  timers_.stop();
  cancel_all();
}

void caf_clock::due(std::uint64_t id) noexcept {
  std::unique_ptr<entry> e;
  {
    std::lock_guard lock{mutex_};
    auto found = entries_.find(id);
    if (found == entries_.end()) return;
    e = std::move(found->second);
    entries_.erase(found);
    auto [first, last] = by_owner_.equal_range(e->owner);
    for (; first != last; ++first) {
      if (first->second != id) continue;
      by_owner_.erase(first);
      break;
    }
  }
  e->deliver();
}

void caf_clock::add(time_point t, std::unique_ptr<entry> e) {
  std::lock_guard lock{mutex_};
  e->node.target = this;
  e->node.id = ++last_id_;
  if (e->owner != 0) by_owner_.emplace(e->owner, e->node.id);
  timers_.add(e->node, t);
  entries_.emplace(e->node.id, std::move(e));
}

template <class F>
caf_clock::entries caf_clock::extract(caf::actor_id owner, F matches) {
  entries taken;
  std::lock_guard lock{mutex_};
  auto [first, last] = by_owner_.equal_range(owner);
  while (first != last) {
    auto found = entries_.find(first->second);
    if (!matches(*found->second)) {
      ++first;
      continue;
    }
    timers_.remove(found->second->node);
    taken.push_back(std::move(found->second));
    entries_.erase(found);
    first = by_owner_.erase(first);
  }
  return taken;
}

}  // namespace troupe::runtime
