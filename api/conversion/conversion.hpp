// The API versions other than the hub's: their kinds, and the functions that convert between their
// shapes and the hub's.
//
// A version is described in .proto files like the hub (but outside the schema, so that the hub does
// not serve it) and registers its kinds and functions in one place. Conversions are total: fields
// that the other shape lacks are dropped, invalid values are copied, and the validation of the
// hub's object decides. Read-only after construction; thread safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

class conversions {
 public:
  // All versions of the program (v1beta1/versions.cpp).
  static const conversions& instance();
  conversions() = default;
  conversions(const conversions&) = delete;
  conversions& operator=(const conversions&) = delete;

  // -- registration ------------------------------------------------------------------------------

  // Adds a kind by its type, with the hub's kind that it is a shape of.
  template <class External, class Hub>
  void add_kind() {
    add(*External::descriptor(), Hub::descriptor());
  }
  // Adds a kind without a counterpart in the hub.
  template <class External>
  void add_kind() {
    add(*External::descriptor(), nullptr);
  }
  // Converts between two shapes. Without a function, equal shapes are copied field by field
  // (default_copy.hpp). `to` is empty.
  template <class From, class To>
  void add_conversion(void (*convert)(const From& from, To& to)) {
    functions_[{From::descriptor(), To::descriptor()}] = [convert](const body& from, body& to) {
      convert(static_cast<const From&>(from), static_cast<To&>(to));
    };
  }
  // Sets the defaults of an object of that version. Idempotent.
  template <class External>
  void add_defaults(void (*fill)(External& content)) {
    defaults_[External::descriptor()] = [fill](body& content) {
      fill(static_cast<External&>(content));
    };
  }

  // -- lookup ------------------------------------------------------------------------------------

  // Finds kinds of the other versions and of the hub; null if there is none.
  kind_handle find(std::string_view api_version, std::string_view kind) const;
  // For the other versions only. `plural` as in paths, e.g. "replicationControllers".
  const kind_info* find_resource(std::string_view version, std::string_view plural) const;
  // The hub's kind that the kind is a shape of; a hub's kind itself; null if there is
  // none.
  const kind_info* hub(const kind_info& kind) const;
  // All kinds of the other versions.
  const std::vector<const kind_info*>& all() const noexcept { return all_; }

  // -- conversion ---------------------------------------------------------------------------------

  // The object in the shape of `to`, with the defaults of that version (not the hub's: see
  // set_defaults). 500 if there is no conversion.
  expected<std::unique_ptr<body>> convert(const body& from, const kind_info& to) const;
  void set_defaults(body& content) const;

  // As api::decode, for kinds of all versions. The content has the shape and the defaults of the
  // version that the document names. Errors name unknown versions and kinds.
  expected<decoded> decode(std::string_view bytes, media form, const kind_info* expected_kind,
                           const decode_options& options = {}) const;

 private:
  using types = std::pair<const google::protobuf::Descriptor*, const google::protobuf::Descriptor*>;
  using names = std::pair<std::string, std::string>;

  void add(const google::protobuf::Descriptor& external, const google::protobuf::Descriptor* hub);
  bool knows_version(std::string_view api_version) const;

  std::vector<std::unique_ptr<kind_info>> owned_;
  std::vector<const kind_info*> all_;
  std::map<names, const kind_info*> by_kind_;      // (api version, kind)
  std::map<names, const kind_info*> by_resource_;  // (version, plural)
  std::unordered_map<const kind_info*, const kind_info*> hubs_;
  std::map<types, std::function<void(const body&, body&)>> functions_;
  std::unordered_map<const google::protobuf::Descriptor*, std::function<void(body&)>> defaults_;
};

}  // namespace troupe::api
