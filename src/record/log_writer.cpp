#include "record/log_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/save.h"
#include "domain/limits.h"

namespace sluice::record {

static_assert(std::endian::native == std::endian::little, "logs are little-endian");

RecordFrame frame_of(std::string_view content) {
  Hash hash;
  hash.add_word(content.size());
  for (std::size_t i = 0; i < content.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + i, std::min(sizeof word, content.size() - i));
    hash.add_word(word);
  }
  const auto length = static_cast<std::uint32_t>(content.size());
  return {length, ~length, hash.value()};
}

std::uint64_t hash_of_save(std::string_view save) {
  return std::max<std::uint64_t>(1, frame_of(save).checksum);
}

void LogWriter::begin(RecordKind kind) {
  begin_ = out_.size();
  out_.append(kRecordFrameBytes, '\0');
  save(kind, out_);
}

void LogWriter::end() {
  const std::string_view content = std::string_view(out_).substr(begin_ + kRecordFrameBytes);
  CHECK(content.size() <= limits::log_record_bytes_max);
  frame_.clear();
  save(frame_of(content), frame_);
  out_.replace(begin_, kRecordFrameBytes, frame_);
}

void LogWriter::header(const LogHeader& header) {
  out_ += kLogMagic;
  save(kLogVersion, out_);
  begin(RecordKind::header);
  save(header, out_);
  end();
}

void LogWriter::observed(const Event& event, Time at) {
  begin(RecordKind::observed);
  encode(event, at, out_);
  end();
}

void LogWriter::decided(const Decided& decided) {
  begin(RecordKind::decided);
  save(decided, out_);
  end();
}

}  // namespace sluice::record
