// The only file that includes spdlog: its bounded queue and its thread are what we use of it.
#include "log/log.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/async.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "data/clock.h"
#include "wire/channel.h"

namespace sluice::log {
namespace {

namespace details = spdlog::details;

constexpr mode_t kMode = 0640;  // errors of functions may quote what callers sent
// Component, request and text of a remark pass through spdlog as one text: the first two have no line ends.
constexpr char kBetween = '\n';

wire::Descriptor open_file(const std::string& file) {
  return wire::Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
}

// A descriptor may have been made not to block by whoever shares it.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      (void)::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

spdlog::level::level_enum to_spdlog(Remark::Level level) {
  return static_cast<spdlog::level::level_enum>(static_cast<int>(level) + SPDLOG_LEVEL_DEBUG);
}
Remark::Level from_spdlog(spdlog::level::level_enum level) {
  return static_cast<Remark::Level>(static_cast<int>(level) - SPDLOG_LEVEL_DEBUG);
}
static_assert(SPDLOG_LEVEL_DEBUG + static_cast<int>(Remark::Level::error) == SPDLOG_LEVEL_ERROR);

// All but reopen() and the constructor in the thread of the queue.
class Sink final : public spdlog::sinks::base_sink<details::null_mutex> {
 public:
  Sink(Log::Options options, wire::Descriptor file, details::thread_pool& queue)
      : options_(std::move(options)), file_(std::move(file)), queue_(queue) {}

  void reopen() { reopen_.store(true); }

 protected:
  void sink_it_(const details::log_msg& message) override {
    const Time at =
        Time::from_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(message.time.time_since_epoch()).count());
    if (reopen_.exchange(false) && !options_.file.empty()) open_again(at);
    say_dropped(at);
    const std::string_view payload(message.payload.data(), message.payload.size());
    const std::size_t component = payload.find(kBetween), request = payload.find(kBetween, component + 1);
    put({.at = at,
         .level = from_spdlog(message.level),
         .component = payload.substr(0, component),
         .request = payload.substr(component + 1, request - component - 1),
         .text = payload.substr(request + 1)});
  }
  void flush_() override {}

 private:
  void put(const Line& line) {
    if (!write_all(options_.file.empty() ? options_.descriptor : file_.get(), format(line, options_.format))) ++lost_;
  }
  void open_again(Time at) {
    wire::Descriptor file = open_file(options_.file);
    if (file.valid()) {
      file_ = std::move(file);
      return;
    }
    const std::string why =
        str("'", options_.file, "' cannot be opened again, the old file stays: ", std::strerror(errno));
    put({.at = at, .level = Remark::Level::error, .component = "log", .text = why});
  }
  // Also lines that could not be written, once one can.
  void say_dropped(Time at) {
    const std::size_t dropped = queue_.overrun_counter() + lost_;
    if (dropped == said_) return;
    const std::size_t before = lost_;
    const std::string text = str(dropped - said_, " lines were dropped: they came faster than they could be written");
    put({.at = at, .level = Remark::Level::warning, .component = "log", .text = text});
    if (lost_ != before) {
      lost_ = before;  // this line is no one's loss
    } else {
      said_ = dropped;
    }
  }

  Log::Options options_;
  wire::Descriptor file_;
  details::thread_pool& queue_;  // its thread calls, and ends with it
  std::atomic<bool> reopen_ = false;
  std::size_t lost_ = 0, said_ = 0;
};

class Spdlog final : public Log {
 public:
  Spdlog(const Options& options, wire::Descriptor file)
      : least_(options.least),
        threads_(std::make_shared<details::thread_pool>(options.queue_max, 1)),
        sink_(std::make_shared<Sink>(options, std::move(file), *threads_)),
        logger_(std::make_shared<spdlog::async_logger>("sluice", sink_, threads_,
                                                       spdlog::async_overflow_policy::overrun_oldest)) {
    logger_->set_level(spdlog::level::debug);  // write() chooses
  }
  // The thread ends, having written what is there, before anything that it writes to goes.
  ~Spdlog() override { threads_.reset(); }
  Spdlog(const Spdlog&) = delete;
  Spdlog& operator=(const Spdlog&) = delete;

  void write(const Remark& remark, std::string_view request) override {
    if (remark.level < least_) return;
    const spdlog::log_clock::time_point at{
        std::chrono::duration_cast<spdlog::log_clock::duration>(std::chrono::nanoseconds(data::now().count_ns()))};
    logger_->log(at, spdlog::source_loc{}, to_spdlog(remark.level),
                 spdlog::string_view_t(str(remark.component, kBetween, request, kBetween, remark.text)));
  }
  void reopen() override { sink_->reopen(); }

 private:
  Remark::Level least_;
  std::shared_ptr<details::thread_pool> threads_;
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

}  // namespace

Result<std::unique_ptr<Log>> Log::open(const Options& options) {
  wire::Descriptor file = options.file.empty() ? wire::Descriptor() : open_file(options.file);
  if (!options.file.empty() && !file.valid()) {
    return Error{ErrorCode::io, str("the log file '", options.file, "' cannot be opened: ", std::strerror(errno))};
  }
  try {
    return std::unique_ptr<Log>(std::make_unique<Spdlog>(options, std::move(file)));
  } catch (const std::exception& wrong) {  // no thread, no memory
    return Error{ErrorCode::unavailable, str("the log cannot be started: ", wrong.what())};
  }
}

}  // namespace sluice::log
