#include "persistence/snapshot.hpp"

#include "persistence/tree.hpp"

namespace troupe::persistence {

api::object_ptr snapshot::find(std::string_view key) const {
  const entry* found = root_->find(key);
  return found == nullptr ? nullptr : found->object();
}

std::size_t snapshot::count(std::string_view prefix) const {
  return root_->count(prefix);
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
    return call(inner, found.key(), found.object());
  });
}

}  // namespace troupe::persistence
