#include "record/log_reader.h"

#include <algorithm>

#include "base/save.h"
#include "base/text.h"
#include "domain/limits.h"

namespace sluice::record {
namespace {

std::optional<RecordKind> kind_of(std::string_view content) {
  return load<RecordKind>(content.substr(0, 1));
}

bool all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

Result<LogReader> LogReader::open(std::istream& in) {
  LogReader reader(in);
  if (const Status status = reader.read_start(); !status) return status.error();
  return reader;
}

Error LogReader::damaged(std::string_view what) const {
  return {ErrorCode::invalid, str("the record at byte ", offset_, " of the log ", what)};
}

Error LogReader::cut_short() {
  cut_off_ = true;
  return damaged("is cut off; what comes before it is whole");
}

void LogReader::take(std::size_t size) {
  constexpr std::size_t kChunk = 1u << 20;  // a length alone allocates no more than this
  content_.clear();
  while (content_.size() < size && in_->good()) {
    const std::size_t before = content_.size();
    content_.resize(before + std::min(kChunk, size - before));
    in_->read(content_.data() + before, static_cast<std::streamsize>(content_.size() - before));
    content_.resize(before + static_cast<std::size_t>(in_->gcount()));
  }
}

bool LogReader::only_room_left() {
  constexpr std::size_t kChunk = 1u << 20;
  while (all_zero(content_) && !content_.empty()) take(kChunk);
  return content_.empty();
}

Status LogReader::read_start() {
  take(kLogMagic.size() + 1);
  if (content_.size() != kLogMagic.size() + 1 || !content_.starts_with(kLogMagic))
    return Error{ErrorCode::invalid, "this is no event log: it does not begin with 'sluicelog'"};
  const auto version = static_cast<std::uint8_t>(content_.back());
  if (version != kLogVersion)
    return Error{ErrorCode::invalid, str("the log has format version ", version, "; this program reads ", kLogVersion)};
  offset_ = content_.size();
  const auto found = read_content();
  if (!found) return found.error();
  if (!*found) return Error{ErrorCode::invalid, "the log ends before its header"};
  auto header =
      kind_of(content_) == RecordKind::header ? load<LogHeader>(std::string_view(content_).substr(1)) : std::nullopt;
  if (!header) return damaged("is no header");
  header_ = std::move(*header);
  offset_ += kRecordFrameBytes + content_.size();
  return Done{};
}

Result<bool> LogReader::read_content() {
  take(kRecordFrameBytes);
  if (all_zero(content_)) {
    if (only_room_left()) return false;
    return cut_short();
  }
  if (content_.size() < kRecordFrameBytes) return cut_short();
  const RecordFrame frame = *load<RecordFrame>(content_);
  if (frame.length != ~frame.complement) return damaged("has a length that was changed");
  if (frame.length > limits::log_record_bytes_max)
    return damaged(str("says it has ", frame.length, " bytes; at most ", limits::log_record_bytes_max, " are allowed"));
  take(frame.length);
  if (content_.size() < frame.length) return cut_short();
  if (frame_of(content_).checksum != frame.checksum) return damaged("was changed: its checksum does not match");
  return true;
}

Result<std::optional<Record>> LogReader::next() {
  const auto found = read_content();
  if (!found) return found.error();
  if (!*found) return std::optional<Record>();
  const auto kind = kind_of(content_);
  const std::string_view rest = std::string_view(content_).substr(content_.empty() ? 0 : 1);
  std::optional<Record> out;
  if (kind == RecordKind::observed) {
    auto observed = decode(rest);
    if (!observed) return damaged(str("makes no sense: ", observed.error().message));
    out = std::move(observed).value();
  } else if (kind == RecordKind::decided) {
    if (const auto decided = load<Decided>(rest)) out = *decided;
  }
  if (!out) return damaged("makes no sense: it is neither an event nor a decision");
  offset_ += kRecordFrameBytes + content_.size();
  return out;
}

std::optional<Time> LogReader::last_decision() {
  std::optional<Time> last;
  for (;;) {
    const auto found = read_content();
    if (!found || !*found) return last;
    if (kind_of(content_) != RecordKind::decided) continue;
    if (const auto decided = load<Decided>(std::string_view(content_).substr(1))) last = decided->at;
  }
}

}  // namespace sluice::record
