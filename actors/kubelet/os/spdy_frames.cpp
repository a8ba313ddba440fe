#include "actors/kubelet/os/spdy_frames.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace troupe::actors {
namespace {

constexpr std::uint32_t control_bit = 0x80000000u;
constexpr std::uint32_t version = 3;
constexpr std::uint8_t last_flag = 1;
constexpr std::size_t head_bytes = 8;
// Our own limits: of a control frame, and of its decompressed headers. A Kubernetes client sends
// some 100 bytes.
constexpr std::size_t control_limit = 16u << 10;
constexpr std::size_t headers_limit = 64u << 10;
constexpr std::size_t header_count_limit = 100;
// For the little that we send: 8 KB instead of 256.
constexpr int deflate_window_bits = 11;
constexpr int deflate_memory_level = 1;

void append_number(std::string& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(static_cast<char>(number >> shift));
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

// The initial dictionary of both compressors (2.6.10.1): words with their lengths, and a tail.
std::string make_dictionary() {
  std::string_view words =
      "options\nhead\npost\nput\ndelete\ntrace\naccept\naccept-charset\naccept-encoding\n"
      "accept-language\naccept-ranges\nage\nallow\nauthorization\ncache-control\nconnection\n"
      "content-base\ncontent-encoding\ncontent-language\ncontent-length\ncontent-location\n"
      "content-md5\ncontent-range\ncontent-type\ndate\netag\nexpect\nexpires\nfrom\nhost\n"
      "if-match\nif-modified-since\nif-none-match\nif-range\nif-unmodified-since\n"
      "last-modified\nlocation\nmax-forwards\npragma\nproxy-authenticate\n"
      "proxy-authorization\nrange\nreferer\nretry-after\nserver\nte\ntrailer\n"
      "transfer-encoding\nupgrade\nuser-agent\nvary\nvia\nwarning\nwww-authenticate\nmethod\n"
      "get\nstatus\n200 OK\nversion\nHTTP/1.1\nurl\npublic\nset-cookie\nkeep-alive\norigin\n";
  std::string out;
  for (std::size_t end = 0; (end = words.find('\n')) != words.npos; words.remove_prefix(end + 1)) {
    append_number(out, static_cast<std::uint32_t>(end));
    out += words.substr(0, end);
  }
  out +=
      "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
      "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 "
      "Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 "
      "Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, "
      "Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
      "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,"
      "sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";
  return out;
}

const std::string& dictionary() {
  static const std::string made = make_dictionary();
  return made;
}

const Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

std::string plain_block(const spdy_headers& headers) {
  std::string out;
  append_number(out, static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers)
    for (const auto& text : {name, value}) {
      append_number(out, static_cast<std::uint32_t>(text.size()));
      out += text;
    }
  return out;
}

// Returns false if it is not a valid header block.
bool read_block(std::string_view block, spdy_headers& into) {
  const auto number = [&block](std::uint32_t& out) {
    if (block.size() < 4) return false;
    out = number_at(block, 0);
    block.remove_prefix(4);
    return true;
  };
  const auto text = [&](std::string& out) {
    std::uint32_t size = 0;
    if (!number(size) || size > block.size()) return false;
    out = block.substr(0, size);
    block.remove_prefix(size);
    return true;
  };
  std::uint32_t count = 0;
  if (!number(count) || count > header_count_limit) return false;
  for (; count > 0; --count) {
    std::pair<std::string, std::string> header;
    if (!text(header.first) || !text(header.second)) return false;
    into.push_back(std::move(header));
  }
  return true;
}

// Offset of the headers in a frame's body; nothing if the type has none.
std::optional<std::size_t> headers_at(spdy_type type) {
  if (type == spdy_type::syn_stream) return 10;
  if (type == spdy_type::syn_reply || type == spdy_type::headers) return 4;
  return std::nullopt;
}

}  // namespace

std::string_view find_header(const spdy_headers& headers, std::string_view name) noexcept {
  for (const auto& [known, value] : headers)
    if (known == name) return value;
  return {};
}

std::string spdy_data_head(std::uint32_t stream, std::size_t bytes, bool last) {
  std::string out;
  append_number(out, stream);
  append_number(out, static_cast<std::uint32_t>(bytes) | (last ? last_flag << 24 : 0));
  return out;
}

// -- writing --------------------------------------------------------------------------------------

struct spdy_writer::deflater {
  deflater() {
    deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, deflate_window_bits,
                 deflate_memory_level, Z_DEFAULT_STRATEGY);
    deflateSetDictionary(&state, bytes_of(dictionary()), static_cast<uInt>(dictionary().size()));
  }
  ~deflater() { deflateEnd(&state); }
  deflater(const deflater&) = delete;
  deflater& operator=(const deflater&) = delete;

  std::string pack(std::string plain) {
    std::string out(deflateBound(&state, static_cast<uLong>(plain.size())) + 64, '\0');
    state.next_in = reinterpret_cast<Bytef*>(plain.data());
    state.avail_in = static_cast<uInt>(plain.size());
    state.next_out = reinterpret_cast<Bytef*>(out.data());
    state.avail_out = static_cast<uInt>(out.size());
    deflate(&state, Z_SYNC_FLUSH);
    out.resize(out.size() - state.avail_out);
    return out;
  }

  z_stream state{};
};

spdy_writer::spdy_writer() : deflater_{std::make_unique<deflater>()} {}
spdy_writer::~spdy_writer() = default;

std::string spdy_writer::write(const spdy_frame& frame) {
  std::string body;
  append_number(body, frame.stream);
  if (frame.type == spdy_type::syn_stream) body.append(6, '\0');  // no related stream, no priority
  if (headers_at(frame.type)) body += deflater_->pack(plain_block(frame.headers));
  if (frame.type == spdy_type::rst_stream || frame.type == spdy_type::goaway)
    append_number(body, frame.status);
  std::string out;
  append_number(out, control_bit | version << 16 | static_cast<std::uint32_t>(frame.type));
  append_number(out, static_cast<std::uint32_t>(body.size()) | (frame.last ? last_flag << 24 : 0));
  return out + body;
}

// -- reading --------------------------------------------------------------------------------------

struct spdy_reader::inflater {
  inflater() { inflateInit(&state); }
  ~inflater() { inflateEnd(&state); }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  // Returns nothing if it is not compressed correctly, or becomes too long.
  std::optional<std::string> unpack(std::string_view packed) {
    std::string out;
    std::array<char, 4096> part;
    state.next_in = const_cast<Bytef*>(bytes_of(packed));
    state.avail_in = static_cast<uInt>(packed.size());
    do {
      state.next_out = reinterpret_cast<Bytef*>(part.data());
      state.avail_out = static_cast<uInt>(part.size());
      auto result = inflate(&state, Z_SYNC_FLUSH);
      if (result == Z_NEED_DICT &&
          inflateSetDictionary(&state, bytes_of(dictionary()),
                               static_cast<uInt>(dictionary().size())) == Z_OK)
        result = inflate(&state, Z_SYNC_FLUSH);
      if (result != Z_OK && result != Z_BUF_ERROR) return std::nullopt;
      out.append(part.data(), part.size() - state.avail_out);
      if (out.size() > headers_limit) return std::nullopt;
    } while (state.avail_out == 0);
    return out;
  }

  z_stream state{};
};

spdy_reader::spdy_reader() : inflater_{std::make_unique<inflater>()}, wanted_{head_bytes} {}
spdy_reader::~spdy_reader() = default;

std::optional<std::string> spdy_reader::feed(std::string_view bytes, const receiver& receive) {
  while (!bytes.empty()) {
    if (data_) {
      pass_data(bytes, receive);
      continue;
    }
    const auto part = bytes.substr(0, wanted_ - head_.size());
    head_ += part;
    bytes.remove_prefix(part.size());
    if (head_.size() < wanted_) return std::nullopt;
    if (wanted_ == head_bytes) {
      if (auto wrong = begin_frame()) return wrong;
      // A DATA frame without bytes ends here.
      const bool data = data_.has_value();
      if (data && data_->left == 0) pass_data(bytes, receive);
      if (data || head_.size() < wanted_) continue;
    }
    if (auto wrong = read_control(std::string_view{head_}.substr(head_bytes), receive))
      return wrong;
    head_.clear();
    wanted_ = head_bytes;
  }
  return std::nullopt;
}

// The header of the frame is complete.
std::optional<std::string> spdy_reader::begin_frame() {
  const auto first = number_at(head_, 0);
  const auto second = number_at(head_, 4);
  const std::size_t size = second & spdy_data_limit;
  if ((first & control_bit) == 0) {
    data_ = open_data{first, (second >> 24 & last_flag) != 0, size};
    head_.clear();
    return std::nullopt;
  }
  if ((first >> 16 & 0x7fff) != version) return "expected frames of SPDY/3";
  if (size > control_limit) return "a frame is too large";
  wanted_ = head_bytes + size;
  return std::nullopt;
}

void spdy_reader::pass_data(std::string_view& bytes, const receiver& receive) {
  const auto part = bytes.substr(0, data_->left);
  bytes.remove_prefix(part.size());
  data_->left -= part.size();
  const auto now = *data_;
  if (now.left == 0) data_.reset();
  if (part.empty() && !now.last) return;
  receive({.type = spdy_type::data,
           .stream = now.stream,
           .last = now.left == 0 && now.last,
           .data = part});
}

std::optional<std::string> spdy_reader::read_control(std::string_view body,
                                                     const receiver& receive) {
  spdy_frame frame;
  frame.type = static_cast<spdy_type>(number_at(head_, 0) & 0xffff);
  frame.last = (number_at(head_, 4) >> 24 & last_flag) != 0;
  const auto begin = headers_at(frame.type);
  const bool with_status = frame.type == spdy_type::rst_stream || frame.type == spdy_type::goaway;
  if (body.size() < (begin ? *begin : with_status ? 8 : 4)) return "a frame is too short";
  frame.stream = number_at(body, 0);
  if (frame.type != spdy_type::ping) frame.stream &= ~control_bit;
  if (with_status) frame.status = number_at(body, 4);
  if (begin) {
    const auto block = inflater_->unpack(body.substr(*begin));
    if (!block || !read_block(*block, frame.headers)) return "the headers of a frame are invalid";
  }
  receive(frame);
  return std::nullopt;
}

}  // namespace troupe::actors
