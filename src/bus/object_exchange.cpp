// How objects are fetched. How they are served is in object_serving.cpp.
#include "bus/object_exchange.h"

#include <algorithm>
#include <utility>

namespace sluice::bus {
namespace {

constexpr int kFramesOfAStep = 256;  // of one transport: what comes beyond is read in the next step

}  // namespace

ObjectExchange::ObjectExchange(const data::ObjectStore& store, Options options)
    : store_(store), options_(std::move(options)), next_question_(options_.epoch << 32) {
  std::sort(options_.here.begin(), options_.here.end());
}

void ObjectExchange::connect(InvokerId place, Transport& transport) {
  routes_[place] = &transport;
  if (std::find(transports_.begin(), transports_.end(), &transport) == transports_.end())
    transports_.push_back(&transport);
}

Transport* ObjectExchange::route(InvokerId place) const {
  const auto it = routes_.find(place);
  return it == routes_.end() ? nullptr : it->second;
}

bool ObjectExchange::is_here(InvokerId place) const {
  return std::binary_search(options_.here.begin(), options_.here.end(), place);
}

void ObjectExchange::work(Time now) {
  std::string bytes;
  for (Transport* transport : transports_) {
    for (int i = 0; i < kFramesOfAStep && transport->receive(bytes); ++i) read(*transport, bytes);
  }
  for (const std::uint64_t number : under_way_) look_at_clock(fetches_.at(number), now);
  tell();
  begin_waiting();
}

Time ObjectExchange::due() const {
  if (!over_.empty()) return Time();
  Time next = Time::max();
  for (const std::uint64_t number : under_way_) {
    const Fetch& fetch = fetches_.at(number);
    if (!fetch.sent_at) return Time();
    next = std::min(next, *fetch.sent_at + options_.retry);
  }
  return next;
}

void ObjectExchange::read(Transport& from, const std::string& bytes) {
  const auto message = decode_object_message(bytes);
  if (!message) {
    ++counters_.refused;
  } else if (const auto* ask = std::get_if<Ask>(&*message)) {
    serve(from, *ask);
  } else {
    hear(from, std::get<Answer>(*message));
  }
}

std::uint64_t ObjectExchange::fetch(const ObjectName& name, std::span<const InvokerId> places,
                                    std::shared_ptr<data::Arena> arena, OnFetched told) {
  const std::uint64_t number = ++next_fetch_;
  Fetch& added = fetches_[number];
  added.number = number;
  added.name = name;
  added.arena = std::move(arena);
  added.told = std::move(told);
  for (const InvokerId place : places) added.questions.push_back({.place = place, .number = ++next_question_});
  if (under_way_.size() < options_.fetches_max) {
    begin(added);
  } else if (waiting_.size() < options_.waiting_max) {
    waiting_.push_back(number);
  } else {
    for (Question& question : added.questions) question.state = Question::State::silent;
    end(added);
  }
  return number;
}

void ObjectExchange::give_up(std::uint64_t fetch) {
  const auto it = fetches_.find(fetch);
  if (it == fetches_.end()) return;
  end(it->second);
  under_way_.erase(fetch);
  fetches_.erase(it);
}

void ObjectExchange::begin_waiting() {
  while (!waiting_.empty() && under_way_.size() < options_.fetches_max) {
    const auto it = fetches_.find(waiting_.front());
    waiting_.pop_front();
    if (it != fetches_.end()) begin(it->second);
  }
}

void ObjectExchange::begin(Fetch& fetch) {
  under_way_.insert(fetch.number);
  for (std::size_t q = 0; q < fetch.questions.size(); ++q) {
    Question& question = fetch.questions[q];
    questions_[question.number] = {fetch.number, q};
    if (route(question.place) == nullptr) question.state = Question::State::silent;
    if (question.state == Question::State::asked) send(fetch, question);
  }
  look_for_sender(fetch);
}

// Asks for what is missing: of whoever sends the object its next part, of the others its beginning.
void ObjectExchange::send(const Fetch& fetch, const Question& question) {
  Ask ask{.number = question.number,
          .from = options_.here.empty() ? InvokerId::none() : options_.here.front(),
          .held = store_.held(fetch.name.request).value_or(0),
          .name = fetch.name,
          .most = options_.first_bytes};
  if (fetch.sender && &fetch.questions[*fetch.sender] == &question) {
    ask.copy = fetch.copy;
    ask.offset = fetch.blob.size();
    ask.most = options_.part_bytes;
  }
  ++counters_.asked;
  route(question.place)->send(encode(ask));
}

void ObjectExchange::hear(const Transport& transport, const Answer& answer) {
  const auto known = questions_.find(answer.number);
  if (known == questions_.end()) return;  // over, or never asked
  Fetch& fetch = fetches_.at(known->second.first);
  const std::size_t from = known->second.second;
  Question& question = fetch.questions[from];
  if (route(question.place) != &transport) return;  // it was not asked
  question.held = answer.held;
  using State = Question::State;
  switch (answer.kind) {
    case Answer::Kind::part:
      return take_part(fetch, from, answer);
    case Answer::Kind::gone:
      if (fetch.sender == from) drop_sender(fetch, State::has);
      return;
    case Answer::Kind::unknowing:
      if (++question.unknowing < options_.unknowing_times) return;
      [[fallthrough]];
    case Answer::Kind::absent:
      if (fetch.sender == from) return;  // late: it has it by now
      question.state = answer.kind == Answer::Kind::absent ? State::absent : State::unknowing;
      return look_for_sender(fetch);
  }
}

void ObjectExchange::take_part(Fetch& fetch, std::size_t from, const Answer& answer) {
  if (!fetch.sender) {
    if (answer.offset != 0) return;  // of a copy that was given up
    if (answer.total > options_.bytes_max) {
      fetch.questions[from].state = Question::State::silent;
      return look_for_sender(fetch);
    }
    fetch.heard_at.reset();  // it is there: that it has to wait for room is not its fault
    if (arriving_ + answer.total > options_.bytes_max) return;
    fetch.sender = from;
    fetch.copy = answer.copy;
    fetch.total = answer.total;
    arriving_ += answer.total;
  }
  if (fetch.sender != from) {
    fetch.questions[from].state = Question::State::has;
    return;
  }
  if (answer.copy != fetch.copy || answer.total != fetch.total || answer.offset != fetch.blob.size())
    return;  // doubled
  fetch.blob += answer.bytes;
  counters_.bytes_in += answer.bytes.size();
  fetch.heard_at.reset();
  if (fetch.blob.size() == fetch.total) return arrived(fetch);
  send(fetch, fetch.questions[from]);
}

void ObjectExchange::arrived(Fetch& fetch) {
  auto tensors = data::from_blob(fetch.blob, *fetch.arena);
  if (!tensors) return drop_sender(fetch, Question::State::silent);  // nonsense, or there is no room for it
  fetch.tensors = std::make_shared<const data::Tensors>(std::move(*tensors));
  end(fetch);
}

void ObjectExchange::drop_sender(Fetch& fetch, Question::State state) {
  fetch.questions[*fetch.sender].state = state;
  arriving_ -= fetch.total;
  fetch.sender.reset();
  fetch.blob = {};
  look_for_sender(fetch);
}

// Another one that has it; the object is nowhere once nobody has it who could still answer.
void ObjectExchange::look_for_sender(Fetch& fetch) {
  if (fetch.sender || fetch.over) return;
  bool open = false;
  for (Question& question : fetch.questions) {
    if (question.state == Question::State::has) {
      question.state = Question::State::asked;
      send(fetch, question);
    }
    open = open || question.state == Question::State::asked;
  }
  if (!open) end(fetch);
}

// It waits for nothing any more; unless it was given up, that is told.
void ObjectExchange::end(Fetch& fetch) {
  if (std::exchange(fetch.over, true)) return;
  if (fetch.sender) arriving_ -= fetch.total;
  for (const Question& question : fetch.questions) questions_.erase(question.number);
  over_.push_back(fetch.number);
}

void ObjectExchange::look_at_clock(Fetch& fetch, Time now) {
  if (fetch.over) return;
  if (!fetch.heard_at) fetch.heard_at = now;
  if (!fetch.sent_at) fetch.sent_at = now;
  using State = Question::State;
  if (now - *fetch.heard_at >= options_.silent_after) {
    fetch.heard_at = now;
    for (Question& question : fetch.questions) {
      if (question.state == State::asked) question.state = State::silent;
    }
    if (fetch.sender) return drop_sender(fetch, State::silent);
    return look_for_sender(fetch);
  }
  if (now - *fetch.sent_at < options_.retry) return;
  fetch.sent_at = now;
  for (std::size_t q = 0; q < fetch.questions.size(); ++q) {
    const bool wanted = fetch.sender ? fetch.sender == q : fetch.questions[q].state == State::asked;
    if (wanted) send(fetch, fetch.questions[q]);
  }
}

// Whoever is told may fetch more, or give up.
void ObjectExchange::tell() {
  using State = Question::State;
  for (const std::uint64_t number : std::exchange(over_, {})) {
    under_way_.erase(number);
    auto node = fetches_.extract(number);
    if (node.empty()) continue;  // given up
    Fetch& fetch = node.mapped();
    Fetched out{.tensors = std::move(fetch.tensors), .said = {}};
    for (const Question& question : fetch.questions) {
      const auto kind = question.state == State::absent      ? Said::Kind::absent
                        : question.state == State::unknowing ? Said::Kind::unknowing
                                                             : Said::Kind::silent;
      if (out.tensors == nullptr || kind != Said::Kind::silent)
        out.said.push_back({question.place, kind, question.held});
    }
    fetch.told(std::move(out));
  }
}

}  // namespace sluice::bus
