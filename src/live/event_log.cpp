#include "live/event_log.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "domain/limits.h"
#include "record/command_hash.h"
#include "record/log_reader.h"

namespace sluice::live {

EventLog::EventLog(Options options, record::LogHeader header)
    : options_(std::move(options)),
      header_(std::move(header)),
      buffer_(std::make_unique<std::string>()),
      writer_(std::make_unique<record::LogWriter>(*buffer_)),
      saving_(std::make_unique<invoker::TaskThread>()) {}

Result<EventLog> EventLog::open(const Options& options, const record::LogHeader& header) {
  EventLog log(options, header);
  if (const Status begun = log.begin_segment(); !begun) return begun.error();
  forget_segments(options.directory, options.bytes_max, str("events-", options.epoch, "-0"));
  return log;
}

// A save that is being written is finished: its segment could not be replayed without it.
EventLog::~EventLog() {
  if (!saving_) return;  // moved from
  std::promise<void> written;
  saving_->post([&] { written.set_value(); });
  written.get_future().wait();
}

std::string EventLog::path(const char* ending) const {
  return str(options_.directory, "/events-", options_.epoch, "-", segment_, ending);
}

Status EventLog::begin_segment() {
  // A segment ends after the step that made it large: whatever that brought still fits.
  auto file = AppendedFile::create(path(".log"), options_.segment_bytes + 2 * limits::log_record_bytes_max);
  if (!file) return Error{ErrorCode::io, str("the event log cannot be written: ", file.error().message)};
  if (file_ != nullptr) saving_->post([full = std::move(file_)] { full->close(); });
  file_ = std::move(*file);
  writer_->header(header_);
  return flush();
}

void EventLog::observed(const Event& event, Time at) {
  if (!broken_) writer_->observed(event, at);
}

void EventLog::decided(const Commands& commands, Time at) {
  if (!broken_) writer_->decided({.at = at, .commands = commands.list.size(), .hash = record::hash_of(commands)});
}

Status EventLog::flush() {
  if (buffer_->empty() || broken_) return Done{};
  const Status appended = file_->append(*buffer_, record::kRecordFrameBytes);
  buffer_->clear();
  if (!appended) {
    broken_ = true;
    return Error{ErrorCode::io, str("the event log has stopped: ", appended.error().message,
                                    ". Requests go on; what happens from here on cannot be replayed")};
  }
  if (file_->wants_room()) saving_->post([file = file_] { file->make_room(); });
  return Done{};
}

// The state becomes bytes here, and a file in another thread: of a scheduler with 10,000 requests that is a few
// megabytes and milliseconds, once in 256 MiB of log.
void EventLog::rotate_if_due(core::Scheduler& scheduler) {
  if (broken_ || file_->size() < options_.segment_bytes) return;
  ++segment_;
  auto save = std::make_shared<const std::string>(scheduler.save());
  header_.begins_with = record::hash_of_save(*save);
  if (!begin_segment()) broken_ = true;
  saving_->post([save = std::move(save), to = path(".save"), newest = str("events-", options_.epoch, "-", segment_),
                 directory = options_.directory, bytes_max = options_.bytes_max] {
    std::ofstream(to, std::ios::binary) << *save;
    forget_segments(directory, bytes_max, newest);
  });
}

namespace {

namespace fs = std::filesystem;

struct Segment {
  std::uint64_t epoch = 0, number = 0, bytes = 0;
  std::vector<fs::path> files;
};

// By stem, those that were begun first at the front.
std::vector<Segment> segments_in(const std::string& directory) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, Segment> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, failed)) {
    const std::string stem = entry.path().stem().string(), ending = entry.path().extension().string();
    constexpr std::string_view kPrefix = "events-";
    const std::size_t dash = stem.find('-', kPrefix.size());
    if (!stem.starts_with(kPrefix) || dash == std::string::npos || (ending != ".log" && ending != ".save")) continue;
    const auto epoch = parse_int(std::string_view(stem).substr(kPrefix.size(), dash - kPrefix.size()));
    const auto number = parse_int(std::string_view(stem).substr(dash + 1));
    if (!epoch || !number || *epoch < 0 || *number < 0) continue;
    const std::pair key(static_cast<std::uint64_t>(*epoch), static_cast<std::uint64_t>(*number));
    Segment& segment = found[key];
    segment.epoch = key.first;
    segment.number = key.second;
    segment.files.push_back(entry.path());
    const std::uintmax_t size = entry.file_size(failed);
    if (!failed) segment.bytes += size;
  }
  std::vector<Segment> out;
  for (auto& [key, segment] : found) out.push_back(std::move(segment));
  return out;
}

std::optional<Time> last_instant_in(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  auto reader = record::LogReader::open(in);
  return reader ? reader->last_decision() : std::nullopt;
}

}  // namespace

void forget_segments(const std::string& directory, std::uint64_t bytes_max, const std::string& newest) {
  const std::vector<Segment> segments = segments_in(directory);
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) bytes += segment.bytes;
  for (const Segment& segment : segments) {
    if (bytes <= bytes_max || str("events-", segment.epoch, "-", segment.number) == newest) return;
    std::error_code ignored;
    for (const fs::path& file : segment.files) fs::remove(file, ignored);
    bytes -= segment.bytes;
  }
}

// Of the newest segment that has a decision: at most one is read as a whole.
Time last_instant(const std::string& directory) {
  const std::vector<Segment> segments = segments_in(directory);
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    for (const fs::path& file : segment->files) {
      if (file.extension() != ".log") continue;
      if (const auto last = last_instant_in(file)) return *last;
    }
  }
  return {};
}

}  // namespace sluice::live
