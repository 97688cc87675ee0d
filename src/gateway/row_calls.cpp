#include "gateway/row_calls.h"

#include <utility>

#include "base/check.h"

namespace sluice::gateway {

std::vector<live::SharedInputs> split_rows(const data::Tensors& stacked, std::uint32_t rows) {
  std::vector<live::SharedInputs> out;
  out.reserve(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    auto inputs = std::make_shared<data::Tensors>();
    for (const data::Tensor& tensor : stacked) {
      auto one = data::row_of(tensor, row);
      CHECK(one.has_value());
      inputs->push_back(std::move(*one));
    }
    out.push_back(std::move(inputs));
  }
  return out;
}

RowCalls::RowCalls(live::Service& service, Principal principal, std::size_t rows, Listeners listeners)
    : service_(service),
      principal_(std::move(principal)),
      listeners_(std::move(listeners)),
      answers_(rows),
      missing_(rows) {}

void RowCalls::call(live::Call call, std::vector<live::SharedInputs> rows) {
  const RequestId first = service_.call_rows(
      std::move(call), std::move(rows),
      [self = shared_from_this()](std::size_t row, auto answer) { self->take(row, std::move(answer)); });
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    first_ = first;
    over = over_;
  }
  if (over) cancel();  // a row was refused before the others could be cancelled
}

void RowCalls::cancel() {
  std::vector<RequestId> under_way;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t row = 0; first_ && row < answers_.size(); ++row) {
      if (!answers_[row]) under_way.emplace_back(first_->value() + row);
    }
  }
  for (const RequestId id : under_way) service_.cancel(principal_, id);
}

void RowCalls::take(std::size_t row, live::Answer answer) {
  listeners_.row(answer);
  const bool failed = answer.kind != live::AnswerKind::finished;
  Outcome outcome{.first = RequestId(answer.request.value() - row)};
  {
    const std::lock_guard lock(mutex_);
    answers_[row] = std::move(answer);
    --missing_;
    if (over_ || (!failed && missing_ > 0)) return;
    over_ = true;
    const std::size_t shown = failed ? row : 0;
    if (failed) outcome.failed = row;
    for (std::size_t i = 1; !failed && i < answers_.size(); ++i)
      outcome.further.push_back(std::move(answers_[i]->outputs));
    outcome.answer = std::move(*answers_[shown]);
  }
  if (failed) cancel();
  listeners_.all(std::move(outcome));
}

}  // namespace sluice::gateway
