#include "system/planes/plane_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "system/network/joined_cluster.hpp"

namespace troupe::test {

namespace {

const http_client::fields json{{"content-type", "application/json"}};
const http_client::fields merge_patch{{"content-type", "application/merge-patch+json"}};
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
const std::string services = "/api/v1/namespaces/default/services";
const std::string stored_maps = "/registry/configmaps/default/";
const std::string cached = "?resourceVersion=0";

// The patient clients wait longer than a control plane does for etcd, so they learn the outcome of
// a transaction that was sent again.
constexpr std::chrono::milliseconds answer_limit{3'000}, patient_limit{9'000}, watch_limit{2'000};
constexpr std::chrono::milliseconds back_off{100};
constexpr std::size_t kept_problems = 10, services_of_a_client = 2;
// So that a long run does not fill etcd, and its last list can be decoded.
constexpr std::size_t maps_of_a_client = 500;
constexpr int pages_of_a_list = 3, objects_of_a_page = 50;

// The string value of the first field of that name.
std::string field(const std::string& text, const std::string& name, std::size_t from = 0) {
  const auto begin = text.find('"' + name + "\":\"", from);
  if (begin == text.npos) return {};
  const auto value = begin + name.size() + 4;
  return text.substr(value, text.find('"', value) - value);
}

revision revision_in(const std::string& text) {
  const auto digits = field(text, "resourceVersion");
  revision number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// A name that ends with '-' is completed by the control plane.
std::string map_json(const std::string& name, const std::string& marker, revision at = 0) {
  const auto version = at == 0 ? "" : fmt::format(R"(,"resourceVersion":"{}")", at);
  return fmt::format(
      R"({{"metadata":{{"{}":"{}","labels":{{"half":"{}"}}{}}},"data":{{"v":"{}"}}}})",
      name.ends_with('-') ? "generateName" : "name", name, is_odd(marker) ? "odd" : "even", version,
      marker);
}

// For a query.
std::string escaped(const std::string& token) {
  std::string text;
  for (const auto each : token)
    text += each == '+' ? "%2B" : std::string{each};
  return text;
}

std::string set_json(const std::string& name, std::size_t replicas) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}"}},"spec":{{"replicas":{1},"selector":{{"matchLabels":)"
      R"({{"app":"{0}"}}}},"template":{{"metadata":{{"labels":{{"app":"{0}"}}}},"spec":)"
      R"({{"containers":[{{"name":"c","image":"i","resources":)"
      R"({{"requests":{{"cpu":"12"}}}}}}]}}}}}}}})",
      name, replicas);
}

std::string service_json(const std::string& name, bool of_pods) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"NodePort",{}"ports":[{{"port":80}}]}}}})",
      name, of_pods ? R"("selector":{"app":"web"},)" : "");
}

template <class T>
void raise(std::atomic<T>& to, T value) {
  auto now = to.load();
  while (now < value && !to.compare_exchange_weak(now, value)) {
  }
}

}  // namespace

// -- writers --------------------------------------------------------------------------------------

class plane_load::writer {
 public:
  writer(plane_load& of, std::size_t number)
      : of_{of},
        number_{number},
        is_repeater_{number >= of.options_.writers},
        random_{of.options_.seed * 1'000 + number} {}

  void run() {
    while (of_.pause(of_.options_.pause)) {
      try {
        // Change the control plane after 20 requests on average.
        if (!client_ || random_() % 20 == 0) dial(random_() % plane_cluster::size);
        act();
      } catch (const std::runtime_error&) {
        client_.reset();
        if (!of_.pause(back_off)) return;
      }
    }
  }

 private:
  void dial(std::size_t plane) {
    client_.reset();
    const bool patient = is_repeater_ || number_ % 2 != 0;
    client_ = client_on(of_.cluster_.plane(plane), patient ? patient_limit : answer_limit);
  }

  void act() {
    if (is_repeater_) return random_() % 2 == 0 ? create_and_remove() : swap(any_shared(), true);
    switch (random_() % 10) {
      case 0:
      case 1:
      case 2: {
        if (mine_.size() >= maps_of_a_client) return remove();
        const auto name = random_() % 3 == 0 ? fmt::format("g{}-", number_)
                                             : fmt::format("w{}-{}", number_, next_);
        if (write("POST", maps, name, 0)) mine_.push_back(name_);
        return;
      }
      case 3:
      case 4:
        // Half of them start with what this control plane knows, as controllers do.
        return swap(any_shared(), random_() % 2 == 0);
      case 5:
        return remove();
      case 6:
        return read();
      case 7:
        return number_ == 0 ? replace_pod() : create_and_remove();
      case 8:
        return replace_service();
      default:
        return number_ == 1 ? scale() : list();
    }
  }

  http_answer ask(const std::string& method, const std::string& path,
                  const std::string& body = {}) {
    auto answer = client_->request(method, path, body, json);
    if (answer.status == 0) client_.reset();
    return answer;
  }

  bool write(const std::string& method, const std::string& path, const std::string& name,
             revision at) {
    write_record record{stored_maps + name, fmt::format("<{} {}>", number_, next_++)};
    record.expected = at;
    const auto body = map_json(name, record.marker, at);
    record.sent = clock::now();
    const auto answer = ask(method, path, body);
    status_ = answer.status;
    at_ = revision_in(answer.body);
    name_ = name;
    if (name.ends_with('-')) {
      name_ = field(answer.body, "name", answer.body.find("\"metadata\""));
      record.key = stored_maps + name_;
    }
    return evaluate(std::move(record), answer, at_);
  }

  bool evaluate(write_record record, const http_answer& answer, revision at) {
    record.answered = clock::now();
    using told = write_record::answer;
    // Status 504 or no response: the outcome is unknown.
    if (answer.status == 200 || answer.status == 201)
      record.told = told::done;
    else if (answer.status != 0 && answer.status != 504)
      record.told = told::refused;
    if (answer.status == 500) of_.problem("500: " + answer.body);
    const bool done = record.told == told::done;
    if (done) {
      if (!record.marker.empty()) record.at = at;
      raise(of_.told_, record.at);
      ++of_.acknowledged_;
    }
    of_.note(std::move(record));
    return done;
  }

  std::size_t any_shared() { return random_() % of_.shared_.size(); }

  void swap(std::size_t number, bool from_cache) {
    const auto name = fmt::format("shared{}", number);
    const auto path = maps + "/" + name;
    const auto before = of_.shared_[number].load(), told = of_.told_.load();
    const auto found = ask("GET", path + (from_cache ? cached : ""));
    if (found.status != 200 && found.status != 404) return;
    const auto at = found.status == 200 ? revision_in(found.body) : 0;
    if (!from_cache && at < before)
      of_.problem(
          fmt::format("a read showed {} at {}, and {} had been told before", name, at, before));
    if (!from_cache) of_.note(read_record{stored_maps + name, at, told});
    raise(of_.shared_[number], at);
    if (write(at == 0 ? "POST" : "PUT", at == 0 ? maps : path, name, at))
      raise(of_.shared_[number], at_);
    if (status_ == 409) check_conflict(path, at);
  }

  // After a conflict the control plane shows the state that caused it.
  void check_conflict(const std::string& path, revision at) {
    const auto now = ask("GET", path + cached);
    if ((now.status == 404 && at == 0) || (now.status == 200 && revision_in(now.body) == at))
      of_.problem(fmt::format("{} was in conflict, and is still at revision {}", path, at));
  }

  // If the creation also happens later, as a request that was sent again, it happens twice.
  void create_and_remove() {
    const auto name = fmt::format("w{}-{}", number_, next_);
    if (write("POST", maps, name, 0)) remove(name);
  }

  void remove() {
    if (mine_.empty()) return;
    const auto name = mine_.front();
    mine_.erase(mine_.begin());
    remove(name);
  }

  void remove(const std::string& name) {
    write_record record{stored_maps + name, {}};
    record.sent = clock::now();
    const auto answer = ask("DELETE", maps + "/" + name);
    if (answer.status == 404) of_.problem(name + " was created, and there was nothing to delete");
    evaluate(std::move(record), answer, 0);
  }

  // A consistent read is never older than any earlier response.
  void read() {
    const auto before = of_.told_.load();
    const auto answer = ask("GET", maps + "?limit=1");
    if (answer.status != 200) return;
    ++of_.reads_;
    const auto at = revision_in(answer.body);
    if (at < before)
      of_.problem(
          fmt::format("a read showed revision {}, and {} had been told before", at, before));
    raise(of_.told_, at);
  }

  // Each page may come from another control plane.
  void list() {
    list_record record{.after = of_.told_.load()};
    std::string token;
    for (int i = 0; i < pages_of_a_list && !record.is_whole; ++i) {
      if (i > 0) dial(random_() % plane_cluster::size);
      const auto answer = ask("GET", fmt::format("{}?limit={}{}", maps, objects_of_a_page, token));
      api::core::v1::ConfigMapList page;
      // 410: more has followed than the control plane keeps.
      if (answer.status != 200 || !api::decode_into(answer.body, api::media::json, page)) return;
      const auto at = revision_in(answer.body);
      if (i > 0 && at != record.at)
        of_.problem(fmt::format("a list at revision {} was continued at {}", record.at, at));
      record.at = at;
      for (const auto& each : page.items()) {
        const auto& meta = each.metadata();
        ++record.count;
        record.digest ^= digest_of(meta.name(), std::stoull(meta.resource_version()));
      }
      record.is_whole = page.metadata().continue_().empty();
      token = "&continue=" + escaped(page.metadata().continue_());
    }
    raise(of_.told_, record.at);
    of_.note(record);
  }

  void replace_pod() {
    const auto list = ask("GET", pods + "?labelSelector=app%3Dweb&resourceVersion=0");
    const auto items = list.body.find("\"items\"");
    if (list.status != 200 || items == std::string::npos) return;
    const auto name = field(list.body, "name", items);
    if (!name.empty()) ask("DELETE", pods + "/" + name + "?gracePeriodSeconds=0");
  }

  // Addresses and node ports are given again soon. Each change of a pod writes the endpoints of its
  // Services, so only one client makes such.
  void replace_service() {
    if (services_.size() >= services_of_a_client) {
      const auto status = ask("DELETE", services + "/" + services_.front()).status;
      if (status == 200 || status == 404) services_.erase(services_.begin());
      return;
    }
    // Without a response it may be there.
    services_.push_back(fmt::format("s{}-{}", number_, next_++));
    const auto answer = ask("POST", services, service_json(services_.back(), number_ == 0));
    if (answer.status == 500) of_.problem("500: " + answer.body);
  }

  void scale() {
    const auto body =
        fmt::format(R"({{"spec":{{"replicas":{}}}}})", 1 + random_() % scaled_replicas);
    if (client_->request("PATCH", sets + "/scaled", body, merge_patch).status == 0) client_.reset();
  }

  plane_load& of_;
  const std::size_t number_;
  const bool is_repeater_;
  std::mt19937_64 random_;
  std::unique_ptr<http_client> client_;
  std::size_t next_ = 0;
  // Of the last write().
  int status_ = 0;
  revision at_ = 0;
  std::string name_;
  std::vector<std::string> mine_, services_;
};

// -- watchers -------------------------------------------------------------------------------------

class plane_load::watcher {
 public:
  // The last one has a selector.
  watcher(plane_load& of, std::size_t number)
      : of_{of},
        plane_{number},
        only_odd_{number + 1 == of.options_.watchers},
        random_{of.options_.seed * 2'000 + number} {}

  void run() {
    while (of_.pause(back_off)) {
      try {
        client_ = client_on(of_.cluster_.plane(plane_++ % plane_cluster::size), watch_limit);
        if (!span_ && !list()) continue;
        client_->send_request("GET", fmt::format("{}&watch=true&allowWatchBookmarks=true&"
                                                 "resourceVersion={}",
                                                 selected(), span_->up_to));
        const auto head = client_->receive_head();
        if (head.status == 410) end_span();
        if (head.status == 200) follow();
      } catch (const std::runtime_error&) {
      }
    }
    end_span();
  }

 private:
  std::string selected() const {
    return maps + "?labelSelector=" + (only_odd_ ? "half%3Dodd" : "");
  }

  bool list() {
    const auto answer = client_->request("GET", selected());
    if (answer.status != 200) return false;
    const auto at = revision_in(answer.body);
    span_ = watch_span{at, at, {}, only_odd_};
    return true;
  }

  // Reads events until the watch ends or is silent, or a random time has passed.
  void follow() {
    ++of_.resumed_;
    const auto until = clock::now() + std::chrono::milliseconds{500 + random_() % 5'000};
    std::string text;
    while (clock::now() < until && of_.pause({})) {
      const auto chunk = client_->next_chunk();
      if (!chunk) return;
      text += *chunk;
      std::size_t begin = 0;
      for (auto end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
        if (!take(text.substr(begin, end - begin))) return;
        begin = end + 1;
      }
      text.erase(0, begin);
    }
  }

  bool take(const std::string& line) {
    const auto type = field(line, "type");
    if (type == "ERROR") {
      if (line.find("\"code\":410") == line.npos) of_.problem("a watch was told " + line);
      end_span();
      return false;
    }
    const auto at = revision_in(line);
    if (at < span_->up_to || (at == span_->up_to && type != "BOOKMARK"))
      of_.problem(fmt::format("a watch told {} at {} after {}", type, at, span_->up_to));
    span_->up_to = at;
    if (type != "BOOKMARK")
      span_->events.push_back(
          {at, type, field(line, "name", line.find("\"metadata\"")), field(line, "v")});
    return true;
  }

  void end_span() {
    if (!span_) return;
    ++of_.expired_;
    const std::lock_guard lock{of_.mutex_};
    of_.spans_.push_back(std::move(*span_));
    span_.reset();
  }

  plane_load& of_;
  std::size_t plane_;
  const bool only_odd_;
  std::mt19937_64 random_;
  std::unique_ptr<http_client> client_;
  std::optional<watch_span> span_;
};

// -- all of them ----------------------------------------------------------------------------------

plane_load::plane_load(plane_cluster& cluster, load_options options)
    : cluster_{cluster}, options_{options} {
  for (const auto& body : {set_json("web", replicas), set_json("scaled", scaled_replicas)}) {
    const auto made = client_on(cluster_.plane(0))->request("POST", sets, body, json);
    if (made.status != 201) throw std::runtime_error{"no replica set: " + made.body};
  }
  for (std::size_t i = 0; i < options_.writers + options_.repeaters; ++i)
    threads_.emplace_back([this, i] { writer{*this, i}.run(); });
  for (std::size_t i = 0; i < options_.watchers; ++i)
    threads_.emplace_back([this, i] { watcher{*this, i}.run(); });
}

plane_load::~plane_load() {
  finish();
}

void plane_load::finish() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  turn_.notify_all();
  for (auto& each : threads_)
    each.join();
  threads_.clear();
}

bool plane_load::goes_on(std::size_t writes, std::chrono::milliseconds limit) const {
  const auto wanted = acknowledged_ + writes;
  return soon(limit, [&] { return acknowledged_ >= wanted; });
}

// Returns false if the clients must stop.
bool plane_load::pause(std::chrono::milliseconds time) {
  std::unique_lock lock{mutex_};
  return !turn_.wait_for(lock, time, [this] { return stopping_; });
}

void plane_load::note(write_record record) {
  const std::lock_guard lock{mutex_};
  writes_.push_back(std::move(record));
}

void plane_load::note(read_record record) {
  const std::lock_guard lock{mutex_};
  shown_.push_back(std::move(record));
}

void plane_load::note(const list_record& record) {
  const std::lock_guard lock{mutex_};
  lists_.push_back(record);
}

void plane_load::problem(std::string text) {
  const std::lock_guard lock{mutex_};
  if (problems_.size() < kept_problems) problems_.push_back(std::move(text));
}

std::string plane_load::summary() const {
  const auto told = [&](write_record::answer wanted) {
    return std::count_if(writes_.begin(), writes_.end(),
                         [&](const auto& each) { return each.told == wanted; });
  };
  std::size_t events = 0;
  for (const auto& each : spans_)
    events += each.events.size();
  return fmt::format(
      "{} writes done, {} refused, {} unknown; {} reads; {} lists in pages; {} events over {} "
      "connections in {} spans",
      told(write_record::answer::done), told(write_record::answer::refused),
      told(write_record::answer::unknown), reads_.load(), lists_.size(), events, resumed_.load(),
      spans_.size());
}

}  // namespace troupe::test
