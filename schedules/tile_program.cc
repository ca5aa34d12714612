// SPDX-License-Identifier: Apache-2.0
#include "schedules/tile_program.h"

#include <fmt/format.h>

#include "schedules/text.h"

namespace tilewright {

const char* path_name(Path path) {
  static constexpr const char* kNames[kPathCount] = {"none",  "gm_l1", "l1_l0a", "l1_l0b", "l0c_gm",
                                                     "gm_ub", "ub_gm", "dma_in", "dma_out"};
  return kNames[static_cast<std::size_t>(path)];
}

const char* memory_name(Memory memory) {
  static constexpr const char* kNames[] = {"GM", "L1", "L0A", "L0B", "L0C", "UB", "CHIP", "REGS"};
  return kNames[static_cast<std::size_t>(memory)];
}

void TileProgram::clear() {
  nodes_.clear();
  operations_.clear();
  rings_.clear();
}

std::uint8_t TileProgram::add_ring(const char* name, Memory memory, std::int64_t slots,
                                   std::int64_t slot_bytes) {
  rings_.push_back(Ring{name, memory, slots, slot_bytes});
  return static_cast<std::uint8_t>(rings_.size() - 1);
}

Operation& TileProgram::add(const char* label) {
  const auto op = static_cast<std::int32_t>(operations_.size());
  nodes_.push_back(Node{op, static_cast<std::int32_t>(nodes_.size()) + 1, 1});
  Operation& operation = operations_.emplace_back();
  operation.label = label;
  return operation;
}

Operation& TileProgram::add(const char* label, const Work& work) {
  Operation& operation = add(label);
  operation.work = work;
  return operation;
}

std::int32_t TileProgram::open_loop(std::int64_t count) {
  nodes_.push_back(Node{-1, 0, count});
  return static_cast<std::int32_t>(nodes_.size()) - 1;
}

void TileProgram::close_loop(std::int32_t loop) {
  nodes_[static_cast<std::size_t>(loop)].end = static_cast<std::int32_t>(nodes_.size());
}

namespace {

std::string work_text(const Work& work) {
  switch (work.kind) {
    case WorkKind::launch:
    case WorkKind::call:
    case WorkKind::bind:
    case WorkKind::reserve:
    case WorkKind::turn:
      return "";
    case WorkKind::stream:
      return fmt::format("{} positions, {} x {} weights", with_commas(work.m), work.k, work.n);
    case WorkKind::product:
      return fmt::format("{} x {} x {}", work.m, work.n, work.k) +
             (work.rows > 0 ? fmt::format(", {} of them", with_commas(work.rows)) : "");
    case WorkKind::rebuild:
      return fmt::format("{} operand rows for one use", with_commas(work.m));
    case WorkKind::prepare:
      return fmt::format("{} parts of {} operand rows", work.rows, with_commas(work.m));
    case WorkKind::vector:
      return fmt::format("{} element operations", with_commas(work.elements));
    case WorkKind::transpose:
      return fmt::format("{} B = {} rows of {} B", with_commas(work.bytes()), work.rows,
                         work.row_bytes);
    case WorkKind::pool:
      return fmt::format("{} elements, client {}", with_commas(work.elements), work.client);
    case WorkKind::fetch:
      return fmt::format("off chip {} B / {} sharers", with_commas(work.bytes()), work.sharers);
    case WorkKind::copy:
      break;
  }
  std::string text = fmt::format("{:<6} {} B", path_name(work.path), with_commas(work.bytes()));
  if (work.stride_bytes > 0) {
    text +=
        fmt::format(" = {} rows of {} B, stride {}", work.rows, work.row_bytes, work.stride_bytes);
  }
  if (work.sharing != Sharing::none) text += fmt::format(", {} sharers", work.sharers);
  if (work.path == Path::gm_l1) {
    text += work.first_read ? ", first read"
                            : fmt::format(", reuse {} B", with_commas(work.reuse_bytes));
  }
  return text;
}

std::string access_text(const TileProgram& program, const Operation& operation) {
  std::string text;
  for (const Access& access : operation.all_accesses()) {
    if (access.verbs & verb::take) text += " take";
    if (access.verbs & verb::read) text += " read";
    if (access.verbs & verb::write) text += " write";
    text += fmt::format(" {}", program.rings()[access.ring].name);
    if (access.lag > 0) text += fmt::format("-{}", access.lag);
  }
  return text;
}

void print_range(const TileProgram& program, std::int32_t begin, std::int32_t end,
                 std::size_t depth, std::string& out) {
  for (std::int32_t i = begin; i < end;) {
    const Node& node = program.nodes()[static_cast<std::size_t>(i)];
    out.append(2 * depth, ' ');
    if (node.op < 0) {
      out += fmt::format("{} times\n", with_commas(node.count));
      print_range(program, i + 1, node.end, depth + 1, out);
      i = node.end;
      continue;
    }
    const Operation& operation = program.operations()[static_cast<std::size_t>(node.op)];
    std::string line = fmt::format("{:<9} {}", operation.label, work_text(operation.work));
    const std::string accesses = access_text(program, operation);
    if (!accesses.empty()) line += " |" + accesses;
    out += line + "\n";
    ++i;
  }
}

}  // namespace

std::string to_text(const TileProgram& program) {
  std::string out;
  for (const Ring& ring : program.rings()) {
    out += fmt::format("ring {:<5} {} x {} B in {}\n", ring.name, ring.slots,
                       with_commas(ring.slot_bytes), memory_name(ring.memory));
  }
  print_range(program, 0, static_cast<std::int32_t>(program.nodes().size()), 0, out);
  return out;
}

}  // namespace tilewright
