#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace sluice {

/// Where the time of a tile pipeline goes.
struct PipelineTimes {
  double fill_s = 0;     ///< until the first compute starts
  double compute_s = 0;  ///< while the compute side works
  double stall_s = 0;    ///< while it waits for tiles
  double drain_s = 0;    ///< after the last compute
};

/// One step of a tile pipeline: the tiles that must come before it, the work on them, and what it
/// leaves to be written back.
struct TileStep {
  std::vector<double> fills_s;  ///< one transfer a tile, in the order of the program
  double compute_s = 0;
  double drain_s = 0;  ///< 0: nothing leaves after this step
};

/// What the hardware can do at once.
struct TileBuffers {
  int slots = 2;              ///< tiles of inputs that fit: 1 an operand, 2 where double buffered
  bool double_output = true;  ///< an output tile drains while the next one is begun
  bool shared_port = false;   ///< fills and drains take turns at the outer memory
};

/// The time of a tile pipeline by recurrence, step by step, in the order of the program.
/// - Fills follow each other. Fill j needs the slot of fill j − slots: it starts when the step that
///   used that tile has ended.
/// - A step starts when its tiles are there and the step before has ended.
/// - A drain starts when its step and the drain before have ended. With one output tile the next
///   step waits for it. With two the next step runs beside it, and the one after that starts when
///   the drain has ended, no sooner than the drain's own time after the step beside it: the
///   pipeline advances by the longest of fill, compute and drain.
class TilePipeline {
 public:
  explicit TilePipeline(const TileBuffers& buffers) : buffers_(buffers) {}

  void add(const TileStep& step);

  /// Times count from now on: those of short steps far from the beginning would be rounded.
  void count_from_now();
  /// Whether it stands as `before`, but for a time that has passed: equal steps after both take
  /// equally long.
  bool stands_as(const TilePipeline& before) const;
  /// As if the steps since `before`, which it stands as, had come so many times more.
  void repeat_since(const TilePipeline& before, double times);

  double end_s() const;
  PipelineTimes times() const;

 private:
  struct Drain {
    std::int64_t step = -1;
    double time_s = 0, end_s = 0;
  };

  /// What steps since then had; `moves_fills`: the end of the fills has changed.
  struct Used {
    bool fills, drains, moves_fills;
  };
  Used used_since(const TilePipeline& before) const;

  TileBuffers buffers_;
  std::int64_t n_steps_ = 0;
  double fills_end_s_ = 0, compute_start_s_ = 0, compute_end_s_ = 0;
  std::deque<std::int64_t> fill_steps_;  ///< of the last `slots` fills
  std::deque<double> slot_free_s_;       ///< likewise: when their step ends; the future: negative
  Drain last_drain_, drain_before_;
  std::int64_t n_fills_ = 0, n_drains_ = 0;
  double before_s_ = 0;  ///< that no other time counts
  double first_start_s_ = 0, busy_s_ = 0, waits_s_ = 0;
};

}  // namespace sluice
