#include "loop_search.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mapper/common/key_hash.h"
#include "mapper/common/pareto.h"
#include "mapper/common/rounding.h"
#include "mapper/shape/trip_choices.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

using RowKind = SimpleProgram::RowKind;

/// How many instances work together is decided before what each of them does in turn.
std::pair<bool, std::uint32_t> rank_of(const ClassLoop& loop) { return {!loop.spatial, loop.gap}; }

class LoopSearch {
 public:
  explicit LoopSearch(const LoopSearchRequest& request)
      : request_(request),
        program_(*request.program),
        n_classes_(request.classes->size()),
        bound_(request.bound),
        depth_(n_classes_, 0),
        kinds_(n_classes_) {
    order_loops();
    for (std::size_t c = 0; c < n_classes_; ++c)
      if (!find_columns(c)) return;
    least_.resize(program_.products.size());
    most_.resize(program_.products.size());
    rest_.resize(program_.rows.size());
    factors_of_class_.resize(n_classes_);
    find_factors();
    for (std::size_t c = 0; c < n_classes_; ++c) row_terms_.push_back(terms_of(c));
  }

  LoopSearchResult run() {
    if (result_.gave_up) return std::move(result_);
    if (request_.starts == nullptr) {
      choose_spatial();
    } else {
      begin_products();
      take_starts(request_.starts->nodes.data(), request_.starts->n);
    }
    if (result_.gave_up) return std::move(result_);
    for (std::size_t step = n_spatial_; step < steps_.size() && n_partial_ > 0; ++step) {
      take_step(step);
      if (result_.gave_up) return std::move(result_);
      if (request_.beam > 0) keep_lowest();
    }
    take_best();
    return std::move(result_);
  }

  std::optional<LoopStarts> starts() {
    if (!result_.gave_up) choose_spatial();
    if (result_.gave_up) return std::nullopt;
    LoopStarts result;
    for (std::size_t i = 0; i < n_partial_; ++i) {
      if (gives_up_at(i)) return std::nullopt;
      const EnergyLatency cost = cost_of(partial_.data() + i * n_classes_);
      result.bound = std::min(result.bound, bound_.value(cost.energy, cost.latency));
    }
    result.nodes = std::move(partial_);
    result.n = n_partial_;
    return result;
  }

 private:
  static constexpr std::uint64_t kSettled = 1;
  /// A product's factor of one class: extremes per node.
  struct Factor {
    std::size_t cls;
    const TrieColumn* column;
  };
  /// A term of a row whose product has a factor of some class.
  struct OwnTerm {
    double coefficient;
    const double* others;      ///< extreme of the product's other factors: in `least_` or `most_`
    const TrieColumn* column;  ///< of this one
  };
  /// A row's terms whose products have a factor of some class, and the others.
  struct RowTerms {
    std::vector<OwnTerm> own;
    std::vector<RowTerm> others;
  };

  void order_loops() {
    std::vector<std::pair<std::pair<bool, std::uint32_t>, std::size_t>> steps;  // ranks and classes
    for (std::size_t c = 0; c < n_classes_; ++c) {
      const std::vector<ClassLoop>& loops = (*request_.classes)[c].loops;
      std::vector<std::uint32_t>& order = order_.emplace_back(loops.size());
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return rank_of(loops[a]) < rank_of(loops[b]);
      });
      for (const std::uint32_t l : order) {
        steps.emplace_back(rank_of(loops[l]), c);
        if (loops[l].spatial) ++n_spatial_;
      }
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [rank, cls] : steps) steps_.push_back(cls);
  }

  /// False: the search was cancelled meanwhile.
  bool find_columns(std::size_t cls) {
    tries_.push_back(&(*request_.tables)[cls]->trie(order_[cls]));
    auto& columns = columns_.emplace_back();
    for (const Column* column : program_.columns[cls]) {
      result_.gave_up = is_cancelled(request_.cancel);
      if (result_.gave_up) return false;
      columns.push_back(&tries_[cls]->column(*column));
    }
    kinds_[cls].assign(tries_[cls]->nodes().size(), 0);
    return true;
  }

  void find_factors() {
    for (std::size_t p = 0; p < program_.products.size(); ++p) {
      std::vector<Factor>& own = factors_of_product_.emplace_back();
      for (std::size_t c = 0; c < n_classes_; ++c) {
        const TrieColumn* factor = column(p, c);
        if (factor == nullptr) continue;
        own.push_back({c, factor});
        factors_of_class_[c].emplace_back(p, factor);
      }
    }
    for (const SimpleProgram::SimpleRow& row : program_.rows)
      if (row.kind == RowKind::kLatency && row.terms.size() == 1 &&
          row.terms.front().coefficient > 0)
        plain_latencies_.push_back(&row);
  }

  std::vector<RowTerms> terms_of(std::size_t cls) const {
    std::vector<RowTerms> result;
    for (const SimpleProgram::SimpleRow& row : program_.rows) {
      RowTerms& terms = result.emplace_back();
      for (const RowTerm& term : row.terms) {
        const TrieColumn* own = column(term.monomial, cls);
        const bool adds = term.coefficient > 0;
        if (own == nullptr)
          terms.others.push_back(term);
        else
          terms.own.push_back(
              {term.coefficient, (adds ? least_ : most_).data() + term.monomial, own});
      }
    }
    return result;
  }

  const TrieColumn* column(std::size_t product, std::size_t cls) const {
    const std::int32_t c = program_.products[product].column[cls];
    return c < 0 ? nullptr : columns_[cls][static_cast<std::size_t>(c)];
  }

  // ---- extending ---------------------------------------------------------------------------

  /// Extremes of every product below the nodes `at`, but for the factor of `without`.
  void multiply(const std::uint32_t* at, std::size_t without) {
    for (std::size_t p = 0; p < least_.size(); ++p) {
      double least = 1, most = 1;
      for (const Factor& factor : factors_of_product_[p]) {
        if (factor.cls == without) continue;
        least *= factor.column->least(at[factor.cls]);
        most *= factor.column->most(at[factor.cls]);
      }
      least_[p] = least;
      most_[p] = most;
    }
  }

  double least_of(const std::vector<RowTerm>& terms) const { return sum_of(terms, least_, most_); }
  double most_of(const std::vector<RowTerm>& terms) const { return sum_of(terms, most_, least_); }

  /// The terms' sum: products that add to it are `added`, others `taken`.
  static double sum_of(const std::vector<RowTerm>& terms, const std::vector<double>& added,
                       const std::vector<double>& taken) {
    double sum = 0;
    for (const RowTerm& term : terms)
      sum += term.coefficient * (term.coefficient > 0 ? added : taken)[term.monomial];
    return sum;
  }

  /// Whether a row that reaches so high may exceed a limit.
  static bool may_exceed(const SimpleProgram::SimpleRow& row, double highest) {
    return row.kind == RowKind::kLimit && highest * kAboveRounding > row.limit;
  }

  /// Whether the search was cancelled, asked now and then: at the i-th of many short steps.
  bool gives_up_at(std::size_t i) {
    if (i % 256 == 0 && is_cancelled(request_.cancel)) result_.gave_up = true;
    return result_.gave_up;
  }

  void expand(std::size_t cls) {
    begin_next();
    const std::vector<RowTerms>& terms = row_terms_[cls];
    std::vector<std::uint32_t> at(n_classes_);
    for (std::size_t i = 0; i < n_partial_; ++i) {
      gives_up_at(i);
      const std::uint32_t parent = partial_[i * n_classes_ + cls];
      const StateTrie::Node& node = tries_[cls]->nodes()[parent];
      const bool all_equal = kind_of_node(cls, parent) == kSettled;
      const std::uint32_t n = all_equal ? std::min(node.n, 1U) : node.n;
      result_.made += n;
      if (result_.made > request_.most_work) result_.gave_up = true;
      if (result_.gave_up) return;
      std::copy_n(partial_.data() + i * n_classes_, n_classes_, at.data());
      multiply(at.data(), cls);
      for (std::size_t r = 0; r < program_.rows.size(); ++r)
        rest_[r] = program_.rows[r].constant + least_of(terms[r].others);
      for (std::uint32_t child = node.first; child < node.first + n; ++child) {
        at[cls] = child;
        const auto sum = [&](std::size_t r) {
          double result = rest_[r];
          for (const OwnTerm& term : terms[r].own)
            result += term.coefficient * *term.others *
                      (term.coefficient > 0 ? term.column->least(child) : term.column->most(child));
          return result;
        };
        if (is_promising(sum)) push_next(at.data());
      }
    }
    ++depth_[cls];
    take_next();
  }

  // ---- spatial loops -----------------------------------------------------------------------

  /// The choices for all spatial loops that are worth going on with: all at once, so that bounds
  /// know what they use of the fanouts, or loop by loop where there are very many.
  void choose_spatial() {
    constexpr double kMostChoices = 200'000;
    is_use_open_ = !request_.selected_by.empty();
    begin_products();
    std::vector<SpatialChoices> choices;
    for (std::size_t c = 0; c < n_classes_; ++c)
      choices.push_back(fused::spatial_choices(*tries_[c], (*request_.tables)[c]->states,
                                               (*request_.classes)[c].loops, order_[c],
                                               request_.fanouts));
    if (are_at_most(kMostChoices, choices, request_.fanouts)) {
      begin_next();
      std::vector<std::uint32_t> at(n_classes_);
      take_choices(choices, 0, std::vector<std::int64_t>(request_.fanouts.size(), 1), &at);
      take_next();
      for (std::size_t step = 0; step < n_spatial_; ++step) ++depth_[steps_[step]];
    } else {
      take_starts(std::vector<std::uint32_t>(n_classes_, 0).data(), 1);
      for (std::size_t step = 0; step < n_spatial_ && n_partial_ > 0 && !result_.gave_up; ++step)
        take_step(step);
    }
    if (result_.gave_up) return;
    if (is_use_open_) select_by_use();
    compare();
  }

  /// Every choice of the classes from `cls` on that uses no more of the fanouts than there is.
  void take_choices(const std::vector<SpatialChoices>& choices, std::size_t cls,
                    const std::vector<std::int64_t>& used, std::vector<std::uint32_t>* at) {
    if (cls == n_classes_) {
      if (may_be_quick(at->data()) && is_promising_start(at->data())) push_next(at->data());
      return;
    }
    if (is_cancelled(request_.cancel)) result_.gave_up = true;
    std::vector<std::int64_t> both(used.size());
    for (std::size_t i = 0; i < choices[cls].nodes.size() && !result_.gave_up; ++i) {
      bool fits = true;
      for (std::size_t f = 0; f < used.size() && fits; ++f) {
        both[f] = used[f] * choices[cls].use[i * used.size() + f];
        fits = both[f] <= request_.fanouts[f].instances;
      }
      if (!fits) continue;
      (*at)[cls] = choices[cls].nodes[i];
      n_multiplied_ = std::min(n_multiplied_, cls);
      take_choices(choices, cls + 1, both, at);
    }
  }

  /// Begins with those of some partial assignments that are promising.
  void take_starts(const std::uint32_t* nodes, std::size_t n) {
    begin_next();
    for (std::size_t i = 0; i < n && !gives_up_at(i); ++i) {
      n_multiplied_ = 0;
      if (is_promising_start(nodes + i * n_classes_)) push_next(nodes + i * n_classes_);
    }
    take_next();
  }

  /// is_promising() of a partial assignment whose first `n_multiplied_` nodes are those of the one
  /// asked about before.
  bool is_promising_start(const std::uint32_t* at) {
    const std::size_t n = least_.size();
    for (; n_multiplied_ < n_classes_; ++n_multiplied_) {
      const std::size_t from = n_multiplied_ * n, to = from + n;
      std::copy_n(least_before_.data() + from, n, least_before_.data() + to);
      std::copy_n(most_before_.data() + from, n, most_before_.data() + to);
      for (const auto& [product, column] : factors_of_class_[n_multiplied_]) {
        least_before_[to + product] *= column->least(at[n_multiplied_]);
        most_before_[to + product] *= column->most(at[n_multiplied_]);
      }
    }
    std::copy_n(least_before_.data() + n_classes_ * n, n, least_.data());
    std::copy_n(most_before_.data() + n_classes_ * n, n, most_.data());
    return is_promising([&](std::size_t r) {
      return program_.rows[r].constant + least_of(program_.rows[r].terms);
    });
  }

  void begin_products() {
    least_before_.assign((n_classes_ + 1) * least_.size(), 1);
    most_before_ = least_before_;
    n_multiplied_ = 0;
  }

  /// Whether latencies of one product alone leave a chance.
  bool may_be_quick(const std::uint32_t* at) const {
    double latency = bound_.own.latency;
    for (const SimpleProgram::SimpleRow* row : plain_latencies_) {
      double product = row->terms.front().coefficient;
      for (const Factor& factor : factors_of_product_[row->terms.front().monomial])
        product *= factor.column->least(at[factor.cls]);
      latency = std::max(latency, row->constant + product);
    }
    return !bound_.hopeless(program_.least_energy, latency);
  }

  // ---- extending ---------------------------------------------------------------------------

  void take_step(std::size_t step) {
    if (request_.tighten) request_.tighten(&bound_);
    expand(steps_[step]);
    if (!result_.gave_up && step + 1 < steps_.size()) compare();
  }

  /// Whether what costs at least the sums of the rows fits and is within the bound.
  template <class SumOfRow>
  bool is_promising(const SumOfRow& sum_of_row) const {
    double energy = 0, latency = bound_.own.latency;
    for (std::size_t r = 0; r < program_.rows.size(); ++r) {
      const SimpleProgram::SimpleRow& row = program_.rows[r];
      const double sum = sum_of_row(r);
      if (row.kind == RowKind::kLimit && sum > row.limit) return false;
      if (row.kind == RowKind::kLatency) latency = std::max(latency, sum);
      if (row.kind == RowKind::kEnergy) energy = program_.cut(sum);
    }
    return !bound_.hopeless(energy + program_.leak_w * latency, latency);
  }

  void begin_next() {
    next_.clear();
    n_next_ = 0;
  }

  void push_next(const std::uint32_t* at) {
    next_.insert(next_.end(), at, at + n_classes_);
    ++n_next_;
  }

  void take_next() {
    std::swap(partial_, next_);
    n_partial_ = n_next_;
  }

  // ---- use of fanouts ----------------------------------------------------------------------

  /// What a partial assignment uses of the fanouts that tile shapes are selected by.
  std::vector<std::int64_t> use_of(const std::uint32_t* at) const {
    std::vector<std::int64_t> use(request_.selected_by.size(), 1);
    for (std::size_t c = 0; c < n_classes_; ++c) {
      const std::vector<ClassLoop>& loops = (*request_.classes)[c].loops;
      const ClassStates& states = (*request_.tables)[c]->states;
      const std::uint32_t state = tries_[c]->nodes()[at[c]].state;
      for (std::size_t l = 0; l < depth_[c]; ++l) {
        const ClassLoop& loop = loops[order_[c][l]];
        if (!loop.spatial) continue;
        const std::size_t fanout = fanout_of(loop, request_.selected_by);
        if (fanout < use.size()) use[fanout] *= trip_count(states.trips(state, order_[c][l]));
      }
    }
    return use;
  }

  void select_by_use() {
    begin_next();
    for (std::size_t i = 0; i < n_partial_; ++i) {
      const std::uint32_t* at = partial_.data() + i * n_classes_;
      if (request_.may_use(use_of(at))) push_next(at);
    }
    take_next();
    is_use_open_ = false;
    for (std::vector<std::uint64_t>& kinds : kinds_) std::fill(kinds.begin(), kinds.end(), 0);
  }

  // ---- comparing ---------------------------------------------------------------------------

  /// Drops partial assignments that another one beats whatever is chosen later. None where the
  /// search is cancelled meanwhile.
  void compare() {
    constexpr std::size_t kFew = 16;
    if (n_partial_ < kFew) return;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> by_kind(n_partial_);
    for (std::uint32_t i = 0; i < n_partial_; ++i) by_kind[i] = {kind_of(i), i};
    std::sort(by_kind.begin(), by_kind.end());
    std::vector<std::uint32_t> kept, alike;
    for (std::size_t first = 0, last = 0; first < by_kind.size(); first = last) {
      alike.clear();
      for (; last < by_kind.size() && by_kind[last].first == by_kind[first].first; ++last) {
        const std::uint32_t i = by_kind[last].second;
        const bool is_alike = alike.empty() || are_alike(alike.front(), i);
        (is_alike ? alike : kept).push_back(i);
      }
      keep_best(alike, &kept);
      if (result_.gave_up) return;
    }
    keep(std::move(kept));
  }

  void keep(std::vector<std::uint32_t> kept) {
    std::sort(kept.begin(), kept.end());
    begin_next();
    for (const std::uint32_t i : kept) {
      push_next(partial_.data() + i * n_classes_);
    }
    take_next();
  }

  /// A hash of what may still be chosen for a class, and to what effect: kSettled where none has
  /// any.
  std::uint64_t kind_of_node(std::size_t cls, std::uint32_t node) {
    std::uint64_t& kind = kinds_[cls][node];
    if (kind != 0) return kind;
    const auto is_constant = [node](const TrieColumn* column) {
      return column->shape(node) == TrieColumn::kConstant;
    };
    kind = kSettled;
    if (!is_use_open_ && std::all_of(columns_[cls].begin(), columns_[cls].end(), is_constant))
      return kind;
    kind = KeyHash::mix(tries_[cls]->structure(node) + 2);
    for (const TrieColumn* column : columns_[cls]) kind = KeyHash::mix(kind ^ column->shape(node));
    return kind;
  }

  /// Of which hash partial assignments are that are alike.
  std::uint64_t kind_of(std::uint32_t i) {
    const std::uint32_t* at = partial_.data() + i * n_classes_;
    std::uint64_t hash = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) hash = KeyHash::mix(hash ^ kind_of_node(c, at[c]));
    if (is_use_open_)
      for (const std::int64_t use : use_of(at))
        hash = KeyHash::mix(hash ^ static_cast<std::uint64_t>(use));
    return hash;
  }

  /// Whether two partial assignments have the same choices left, to the same effect but for a
  /// factor of each product.
  bool are_alike(std::uint32_t i, std::uint32_t j) const {
    const std::uint32_t* a = partial_.data() + i * n_classes_;
    const std::uint32_t* b = partial_.data() + j * n_classes_;
    for (std::size_t c = 0; c < n_classes_; ++c) {
      if (a[c] == b[c] || (kinds_[c][a[c]] == kSettled && kinds_[c][b[c]] == kSettled)) continue;
      if (tries_[c]->structure(a[c]) != tries_[c]->structure(b[c])) return false;
      for (const TrieColumn* column : columns_[c])
        if (column->shape(a[c]) != column->shape(b[c])) return false;
    }
    return !is_use_open_ || use_of(a) == use_of(b);
  }

  /// Numbers the products of a partial assignment: those of equal numbers are multiplied by the
  /// same factors later on.
  void number_factors(const std::uint32_t* at) {
    const auto shape = [&](std::size_t p, std::size_t c) {
      const TrieColumn* factor = column(p, c);
      return factor == nullptr ? TrieColumn::kConstant : factor->shape(at[c]);
    };
    factors_.clear();
    factor_number_.resize(program_.products.size());
    for (std::uint32_t p = 0; p < program_.products.size(); ++p) {
      std::uint64_t hash = 0;
      for (std::size_t c = 0; c < n_classes_; ++c) hash = KeyHash::mix(hash ^ shape(p, c));
      const auto is_known = [&](const std::pair<std::uint64_t, std::uint32_t>& known) {
        if (known.first != hash) return false;
        for (std::size_t c = 0; c < n_classes_; ++c)
          if (shape(p, c) != shape(known.second, c)) return false;
        return true;
      };
      const auto known = std::find_if(factors_.begin(), factors_.end(), is_known);
      factor_number_[p] = static_cast<std::uint32_t>(known - factors_.begin());
      if (known == factors_.end()) factors_.emplace_back(hash, p);
    }
  }

  /// A row as sums of products that later choices multiply by the same factors: one criterion each.
  void find_criteria() {
    constexpr std::uint32_t kNone = ~0U;
    row_of_criterion_.clear();
    criteria_terms_.clear();
    for (std::uint32_t r = 0; r < program_.rows.size(); ++r) {
      criterion_of_factor_.assign(factors_.size(), kNone);
      for (const RowTerm& term : program_.rows[r].terms) {
        std::uint32_t& criterion = criterion_of_factor_[factor_number_[term.monomial]];
        if (criterion == kNone) {
          criterion = static_cast<std::uint32_t>(row_of_criterion_.size());
          row_of_criterion_.push_back(r);
        }
        criteria_terms_.push_back({criterion, term});
      }
    }
  }

  /// Of partial assignments that are alike those that no other one beats: whatever is chosen later
  /// multiplies a criterion of all of them by the same factor, which is not negative. Rows that
  /// decide nothing for any of them are left out: limits that none can exceed, latencies that are
  /// never the longest.
  void keep_best(const std::vector<std::uint32_t>& alike, std::vector<std::uint32_t>* kept) {
    if (alike.size() <= 1) {
      kept->insert(kept->end(), alike.begin(), alike.end());
      return;
    }
    number_factors(partial_.data() + alike.front() * n_classes_);
    find_criteria();
    const std::size_t n_rows = program_.rows.size(), n_criteria = row_of_criterion_.size();
    std::vector<double> values(n_criteria * alike.size(), 0);
    std::vector<double> highest(n_rows, -std::numeric_limits<double>::infinity());
    double least_latency = std::numeric_limits<double>::infinity();  // of the quickest
    for (std::size_t i = 0; i < alike.size(); ++i) {
      if (gives_up_at(i)) return;
      multiply(partial_.data() + alike[i] * n_classes_, n_classes_);
      for (const auto& [criterion, term] : criteria_terms_)
        values[i * n_criteria + criterion] += term.coefficient * most_[term.monomial];
      double latency = bound_.own.latency;
      for (std::size_t r = 0; r < n_rows; ++r) {
        const SimpleProgram::SimpleRow& row = program_.rows[r];
        if (row.kind == RowKind::kEnergy || may_exceed(row, highest[r])) continue;
        highest[r] = std::max(highest[r], row.constant + most_of(row.terms));
        if (row.kind == RowKind::kLatency)
          latency = std::max(latency, row.constant + least_of(row.terms));
      }
      least_latency = std::min(least_latency, latency);
    }
    std::vector<std::uint32_t> taken;
    for (std::uint32_t k = 0; k < n_criteria; ++k) {
      const std::uint32_t r = row_of_criterion_[k];
      const SimpleProgram::SimpleRow& row = program_.rows[r];
      if (row.kind == RowKind::kLimit && !may_exceed(row, highest[r])) continue;
      if (row.kind == RowKind::kLatency && highest[r] * kAboveRounding <= least_latency) continue;
      taken.push_back(k);
    }
    PointSet points;
    points.dimension = taken.size();
    for (std::size_t i = 0; i < alike.size(); ++i)
      for (const std::uint32_t k : taken) points.values.push_back(values[i * n_criteria + k]);
    if (taken.empty()) {
      kept->push_back(alike.front());
      return;
    }
    for (const std::uint32_t i : pareto_front(points, request_.cancel)) kept->push_back(alike[i]);
    gives_up_at(0);
  }

  /// Keeps a beam: the partial assignments of the lowest bounds.
  void keep_lowest() {
    if (n_partial_ <= request_.beam) return;
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t i = 0; i < n_partial_; ++i) {
      const EnergyLatency cost = cost_of(partial_.data() + i * n_classes_);
      order.emplace_back(bound_.value(cost.energy, cost.latency), i);
    }
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(request_.beam),
                     order.end());
    std::vector<std::uint32_t> kept;
    for (std::size_t k = 0; k < request_.beam; ++k) kept.push_back(order[k].second);
    keep(std::move(kept));
  }

  // ---- the result --------------------------------------------------------------------------

  /// What a tile shape costs; of a partial one, what it costs at least.
  EnergyLatency cost_of(const std::uint32_t* at) {
    multiply(at, n_classes_);
    EnergyLatency cost;
    for (const SimpleProgram::SimpleRow& row : program_.rows) {
      const double sum = row.constant + least_of(row.terms);
      if (row.kind == RowKind::kEnergy) cost.energy = program_.cut(sum);
      if (row.kind == RowKind::kLatency) cost.latency = std::max(cost.latency, sum);
    }
    cost.energy += program_.leak_w * cost.latency;
    return cost;
  }

  void take_best() {
    const auto value = [&](const EnergyLatency& cost) {
      return std::pair{objective_value(bound_.objective, cost.energy, cost.latency), cost.energy};
    };
    for (std::size_t i = 0; i < n_partial_; ++i) {
      const std::uint32_t* at = partial_.data() + i * n_classes_;
      const EnergyLatency cost = cost_of(at);
      if (result_.found && value(cost) >= value(result_.cost)) continue;
      result_.found = true;
      result_.cost = cost;
      result_.states.clear();
      for (std::size_t c = 0; c < n_classes_; ++c)
        result_.states.push_back(tries_[c]->nodes()[at[c]].state);
    }
  }

  const LoopSearchRequest& request_;
  const SimpleProgram& program_;
  const std::size_t n_classes_;
  SearchBound bound_;
  std::vector<std::vector<std::uint32_t>> order_;  // per class: its loops as they are chosen
  std::vector<std::size_t> steps_;                 // each chooses the next loop of a class
  std::size_t n_spatial_ = 0;                      // the first ones: spatial loops
  bool is_use_open_ = false;        // whether the use of fanouts is still to be judged
  std::vector<std::size_t> depth_;  // per class: loops chosen so far
  std::vector<StateTrie*> tries_;   // per class
  std::vector<std::vector<const TrieColumn*>> columns_;  // per class, as the program's
  std::vector<std::vector<Factor>> factors_of_product_;
  std::vector<std::vector<std::pair<std::size_t, const TrieColumn*>>>
      factors_of_class_;                                          // products
  std::vector<const SimpleProgram::SimpleRow*> plain_latencies_;  // one product each
  std::vector<std::vector<RowTerms>> row_terms_;                  // per class and row
  std::vector<std::vector<std::uint64_t>> kinds_;  // per class and node: hash, 0: not known
  std::vector<std::uint32_t> partial_, next_;      // nodes, one per class
  std::size_t n_partial_ = 0, n_next_ = 0;
  std::vector<double> least_, most_;                // per product, of multiply()
  std::vector<double> least_before_, most_before_;  // of the classes before each, and of all
  std::size_t n_multiplied_ = 0;                    // classes of which these are known
  std::vector<double> rest_;                        // per row
  std::vector<std::uint32_t> factor_number_;        // per product, of number_factors()
  std::vector<std::pair<std::uint64_t, std::uint32_t>> factors_;  // hash, a product with it
  std::vector<std::uint32_t> criterion_of_factor_;                // of one row
  std::vector<std::uint32_t> row_of_criterion_;
  std::vector<std::pair<std::uint32_t, RowTerm>> criteria_terms_;
  LoopSearchResult result_;
};

}  // namespace

LoopSearchResult search_loops(const LoopSearchRequest& request) {
  return LoopSearch(request).run();
}

std::optional<LoopStarts> find_starts(const LoopSearchRequest& request) {
  return LoopSearch(request).starts();
}

}  // namespace sluice::fused
