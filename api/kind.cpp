#include "api/kind.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <array>

#include "api/kind_row.hpp"
#include "api/schema/custom.pb.h"

namespace troupe::api {
namespace {

constexpr std::string_view registry = "/registry/";

std::string qualify(const std::string& name, const std::string& group) {
  return group.empty() ? name : name + "." + group;
}

std::string prefix_of(const Kind& options) {
  std::string out(registry);
  if (options.group_in_key()) out += options.group() + "/";
  return out + options.plural() + "/";
}

}  // namespace

kind_info::kind_info(const Kind& options, const google::protobuf::Descriptor& type, bool custom)
    : options_(options),
      type_(type),
      row_(row_of(type)),
      api_version_(options.group().empty() ? options.version()
                                           : options.group() + "/" + options.version()),
      qualified_plural_(qualify(options.plural(), options.group())),
      qualified_kind_(qualify(options.kind(), options.group())),
      prefix_(prefix_of(options)),
      custom_(custom) {}

kind_info::kind_info(const Kind& options, const google::protobuf::Descriptor& type)
    : kind_info(options, type, false) {}

kind_info::~kind_info() = default;

kind_handle kind_info::make_custom(Kind options, version_rules_ptr version, kind_handle home) {
  options.set_group_in_key(true);
  auto made = std::unique_ptr<kind_info>(new kind_info(options, *CustomBody::descriptor(), true));
  made->version_ = std::move(version);
  if (home) made->home_ = std::make_unique<const kind_handle>(std::move(home));
  return kind_handle(made.release());
}

kind_handle kind_info::make_custom(Kind options) {
  return make_custom(std::move(options), {}, {});
}

std::string kind_info::list_kind() const {
  return options_.list_kind().empty() ? kind() + "List" : options_.list_kind();
}

std::unique_ptr<body> kind_info::make() const {
  auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type_);
  return std::unique_ptr<body>(prototype->New());
}

std::string kind_info::key(std::string_view ns, std::string_view name) const {
  const bool inside = namespaced() && !ns.empty();
  std::string out;
  out.reserve(prefix_.size() + (inside ? ns.size() + 1 : 0) + name.size());
  out += prefix_;
  if (inside) {
    out += ns;
    out += '/';
  }
  out += name;
  return out;
}

std::string kind_info::prefix(std::string_view ns) const {
  std::string out = prefix_;
  if (namespaced() && !ns.empty()) {
    out += ns;
    out += '/';
  }
  return out;
}

std::string kind_info::etcd_prefix() const {
  if (options_.storage_prefix().empty()) return prefix_;
  return std::string(registry) + options_.storage_prefix() + "/";
}

bool kind_info::serves(std::string_view verb) const noexcept {
  const auto& given = options_.verbs();
  if (!given.empty()) return std::find(given.begin(), given.end(), verb) != given.end();
  static constexpr std::array<std::string_view, 8> all = {
      "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  return std::find(all.begin(), all.end(), verb) != all.end();
}

bool kind_info::stored() const noexcept {
  if (row_.shape != nullptr || home_ != nullptr || row_.is_computed) return false;
  return options_.subresource().empty() && !plural().empty() && (serves("get") || serves("none"));
}

void kind_handle::release() const noexcept {
  if (kind_->handles_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete kind_;
}

}  // namespace troupe::api
