// Outputs: where what a stage left is, mostly on one invoker, that of a foreach on several.
#pragma once
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/bytes.h"
#include "domain/ids.h"

namespace sluice::core {

class Outputs {
 public:
  void add(InvokerId invoker, Bytes bytes);
  void add(const Outputs& others);
  // Whether some of them were there; they are lost.
  bool lose(InvokerId invoker);
  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }  // of all of them
  // The invoker with the most of them, ties to the first; none: nothing is anywhere.
  [[nodiscard]] InvokerId at() const { return most_; }
  [[nodiscard]] Bytes most() const { return most_bytes_; }
  void visit(Archive& a) { a(most_, most_bytes_, bytes_, lost_, others_); }

 private:
  InvokerId most_;
  Bytes most_bytes_, bytes_;
  bool lost_ = false;
  std::vector<std::pair<InvokerId, Bytes>> others_;
};

}  // namespace sluice::core
