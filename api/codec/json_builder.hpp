// Turns the events of a JSON document into protobuf's wire bytes, along the plan of a type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/codec/decode_budget.hpp"
#include "api/codec/json_value.hpp"
#include "api/codec/json_writer.hpp"
#include "api/codec/type_plan.hpp"
#include "api/codec/wire_writer.hpp"

namespace troupe::api {

// A handler for json_sax.hpp, for one document. If it stopped the parser, `failure` has the reason.
class json_builder {
 public:
  json_builder(const type_plan& root, std::size_t document_bytes, const decode_options& options);

  bool scalar(scalar_kind kind, std::string_view text);
  bool key(std::string_view name);
  bool begin_object();
  bool end_object() { return end_container('}'); }
  bool begin_array();
  bool end_array() { return end_container(']'); }

  std::string take_wire() noexcept { return out_.take(); }
  const std::string& api_version() const noexcept { return api_version_; }
  const std::string& kind() const noexcept { return kind_; }
  // Unknown and duplicate fields, in the order of the document.
  std::vector<std::string>& problems() noexcept { return problems_; }
  const std::optional<std::string>& failure() const noexcept { return failure_; }

 private:
  enum class container : std::uint8_t { object, list, map };
  enum class meta : std::uint8_t { no, kind, api_version };
  // An object, list or map that has been opened.
  struct frame {
    container context = container::object;
    const type_plan* type = nullptr;    // object
    const field_plan* field = nullptr;  // the list, the map, or the member with the latest key;
                                        // null if the schema has no such member
    std::string_view key;               // the latest key
    std::size_t index = 0;              // list: index of the next element
    std::size_t from = 0;               // list: position of its bytes in the output
    std::size_t open = 0;               // number of messages that end with it
    bool keep_empty = false;            // do not drop the innermost of them if it is empty
    meta named = meta::no;              // the key is kind or apiVersion
    bool again = false;                 // the member is a duplicate
    std::uint64_t seen[2] = {};         // bit set of the members seen
    std::size_t first_range = 0;        // of this object, in ranges_
    std::size_t first_key = 0;          // of this map, in keys_
  };
  // The bytes of a list, in case the list is repeated: the last one counts.
  struct range {
    const field_plan* field;
    std::size_t from;
    std::size_t to;
  };
  // The cardinality that the schema expects at this place.
  enum class wanted : std::uint8_t { nothing, one, list, map };

  frame& top() noexcept { return stack_.back(); }
  wanted want() const noexcept;
  bool strict() const noexcept { return options_.fields != field_validation::ignore; }

  bool member(std::string_view name);
  bool type_meta(const json_scalar& given);
  bool forget_list(const field_plan& field);
  void report_duplicate_keys();

  bool enter();
  bool take(const json_scalar& given);
  void push(frame next);
  bool begin_message(const field_plan& field);
  bool begin_list(const field_plan& field);
  bool begin_raw(char bracket);
  bool end_container(char bracket);
  bool end_raw();
  bool write_null();

  std::size_t open_value();
  std::uint32_t value_number() noexcept;
  zero zeros() noexcept;
  void close(std::size_t count);
  void value_done();

  std::string path() const;
  std::string go_field() const;
  bool fail(std::string reason);
  bool fail_at(const std::string& format);
  bool mismatched(std::string_view given);
  void note(std::string_view problem);

  const decode_options& options_;
  const type_plan& root_;
  decode_budget budget_;
  wire::writer out_;
  std::vector<frame> stack_;
  std::vector<range> ranges_;
  std::vector<std::string_view> keys_;  // of the open maps
  std::size_t depth_ = 0;
  std::size_t skipped_ = 0;   // open containers below a member that is not in the schema
  json_writer raw_;           // a value that is kept as raw JSON
  std::size_t raw_open_ = 0;  // number of messages that end with it
  std::size_t forgotten_ = 0;
  std::string api_version_;
  std::string kind_;
  std::vector<std::string> problems_;
  std::optional<std::string> failure_;
};

}  // namespace troupe::api
