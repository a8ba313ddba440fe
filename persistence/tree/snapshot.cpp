#include "persistence/tree/snapshot.hpp"

#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

api::object_ptr snapshot::find(std::string_view key) const {
  const entry* found = root_->find(key);
  return found == nullptr ? nullptr : found->object();
}

std::size_t snapshot::count(std::string_view prefix) const {
  return root_->count(prefix);
}

std::uint64_t snapshot::stored_bytes() const {
  return root_->bytes().all;
}

std::size_t snapshot::size() const {
  return root_->size();
}

void snapshot::scan_erased(std::string_view prefix, std::string_view after, void* context,
                           visitor visit) const {
  struct adapted {
    void* context;
    visitor visit;
  } adapted{context, visit};
  root_->scan(prefix, after, &adapted, [](void* to, const entry& found) {
    auto& [inner, call] = *static_cast<struct adapted*>(to);
    return found.encoded() ? call(inner, found.key(), found.object())
                           : call(inner, found.key(), found.kept());
  });
}

void snapshot::scan_stored_erased(std::string_view prefix, void* context,
                                  stored_visitor visit) const {
  struct adapted {
    void* context;
    stored_visitor visit;
  } adapted{context, visit};
  root_->scan(prefix, {}, &adapted, [](void* to, const entry& found) {
    auto& [inner, call] = *static_cast<struct adapted*>(to);
    call(inner, found.key(), found.modified(), found.stored());
    return true;
  });
}

void snapshot::forget_texts() const {
  root_->scan({}, {}, nullptr, [](void*, const entry& found) {
    if (!found.encoded()) found.kept()->forget_texts();
    return true;
  });
}

std::size_t snapshot::encoded_bytes() const {
  return root_->bytes().compact;
}

}  // namespace troupe::persistence
