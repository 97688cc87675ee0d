#include "gateway/io_thread.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "gateway/connection.h"

namespace sluice::gateway {
namespace {

// Timeouts are looked at four times while the shortest of them passes.
Clock::duration period_for(const ServerOptions& options) {
  const Duration shortest =
      std::min({options.handshake_timeout, options.head_timeout, options.body_timeout, options.idle_timeout});
  const Clock::duration quarter = std::chrono::nanoseconds(shortest.count_ns() / 4);
  return std::clamp<Clock::duration>(quarter, std::chrono::milliseconds(5), std::chrono::milliseconds(500));
}

}  // namespace

IoThread::IoThread(std::shared_ptr<ServerShared> shared, bool with_companion)
    : shared_(std::move(shared)),
      context_(1),  // one thread runs it
      work_(context_.get_executor()),
      timer_(context_),
      period_(period_for(shared_->options)) {
  if (with_companion) companion_.emplace(context_, shared_->companion);
}

void IoThread::run() {
  now_ = Clock::now();
  tick();
  if (companion_) companion_->begin();
  context_.run();
  ended_ = true;
}

void IoThread::tick() {
  now_ = Clock::now();
  for (const auto& connection : all()) connection->check_timeout();
  if (stopping_ && connections_.empty()) return;  // a cancelled timer may still have one turn
  timer_.expires_after(period_);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) tick();
  });
}

void IoThread::add(std::shared_ptr<Connection> connection) {
  connections_.insert(std::move(connection));
}

void IoThread::remove(const std::shared_ptr<Connection>& connection) {
  if (connections_.erase(connection) > 0) shared_->connections.fetch_sub(1, std::memory_order_relaxed);
  finish_if_empty();
}

// What is posted must not hold the thread: it may have ended, and then would hold itself for ever.
void IoThread::stop() {
  boost::asio::post(context_, [this] {
    stopping_ = true;
    for (const auto& connection : all()) connection->stop_if_idle();
    finish_if_empty();
  });
}

void IoThread::close_all() {
  boost::asio::post(context_, [this] {
    stopping_ = true;
    for (const auto& connection : all()) connection->close();
    finish_if_empty();
  });
}

void IoThread::finish_if_empty() {
  if (!stopping_ || !connections_.empty()) return;
  timer_.cancel();
  if (companion_) companion_->end();
  work_.reset();
}

std::vector<std::shared_ptr<Connection>> IoThread::all() const {
  return {connections_.begin(), connections_.end()};
}

}  // namespace sluice::gateway
