#include "persistence/format/record.hpp"

#include "api/values/integer.hpp"

namespace troupe::persistence {

namespace {

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out.append(text);
}

template <class Unsigned>
void append_big_endian(std::string& out, Unsigned value) {
  for (int shift = sizeof(Unsigned) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift));
}

template <class Unsigned>
Unsigned big_endian(std::string_view bytes) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Takes values from the front; `ok` becomes false at the first missing one.
class reader {
 public:
  explicit reader(std::string_view bytes) : rest_{bytes} {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }

  std::string_view text() {
    const auto size = varint();
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const auto found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }

  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string state_head(revision created, revision modified) {
  std::string out;
  append_varint(out, created);
  append_varint(out, modified);
  return out;
}

std::optional<stored_state> read_state(std::string_view bytes) {
  reader in{bytes};
  stored_state found;
  found.created = in.varint();
  found.modified = in.varint();
  found.object = in.rest();
  if (!in.ok() || found.created == 0 || found.created > found.modified) return std::nullopt;
  return found;
}

std::string change_key(change_id id) {
  std::string out;
  append_big_endian(out, id.at);
  append_big_endian(out, id.index);
  return out;
}

std::optional<change_id> read_change_key(std::string_view bytes) {
  if (bytes.size() != sizeof(revision) + sizeof(std::uint32_t)) return std::nullopt;
  return change_id{big_endian<revision>(bytes),
                   big_endian<std::uint32_t>(bytes.substr(sizeof(revision)))};
}

std::string change_head(const change_record& record) {
  std::string out;
  out.reserve(48 + record.cause.author.size() + record.key.size());
  out.push_back(static_cast<char>(record.type));
  append_varint(out, record.created);
  append_varint(out, record.previous);
  const auto since = record.time.time_since_epoch();
  append_varint(out, static_cast<std::uint64_t>(
                         std::chrono::duration_cast<std::chrono::microseconds>(since).count()));
  append_varint(out, record.cause.request);
  append_varint(out, record.cause.trigger);
  append_text(out, record.cause.author);
  append_text(out, record.key);
  return out;
}

std::optional<change_record> read_change(std::string_view bytes) {
  if (bytes.empty() ||
      static_cast<unsigned char>(bytes.front()) > static_cast<unsigned char>(change_type::removed))
    return std::nullopt;
  change_record found;
  found.type = static_cast<change_type>(bytes.front());
  reader in{bytes.substr(1)};
  found.created = in.varint();
  found.previous = in.varint();
  const auto when = static_cast<std::int64_t>(in.varint());
  constexpr auto latest = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::duration::max());
  if (when > latest.count() || when < -latest.count()) return std::nullopt;
  found.time = std::chrono::system_clock::time_point{std::chrono::microseconds{when}};
  found.cause.request = in.varint();
  found.cause.trigger = in.varint();
  found.cause.author = in.text();
  found.key = in.text();
  found.object = in.rest();
  if (!in.ok() || (found.previous == 0) != (found.type == change_type::created))
    return std::nullopt;
  return found;
}

std::string base_key(revision at, std::string_view key) {
  std::string out;
  out.reserve(sizeof at + key.size());
  append_big_endian(out, at);
  out.append(key);
  return out;
}

std::optional<base_id> read_base_key(std::string_view bytes) {
  if (bytes.size() <= sizeof(revision)) return std::nullopt;
  return base_id{big_endian<revision>(bytes), bytes.substr(sizeof(revision))};
}

std::optional<std::uint64_t> read_number(std::string_view decimal) {
  return api::parse_integer<std::uint64_t>(decimal);
}

}  // namespace troupe::persistence
