#include "simple_program.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "class_factor.h"
#include "mapper/common/numbered.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

class Tabulator {
 public:
  Tabulator(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
            const std::vector<VariableClass>& classes,
            const std::vector<std::shared_ptr<StateTable>>& tables, const CostProgram& program,
            const std::atomic<bool>* cancel)
      : bound_(bound),
        shape_(shape),
        templ_(templ),
        classes_(classes),
        tables_(tables),
        program_(program),
        cancel_(cancel) {
    result_.columns.resize(classes.size());
    number_of_column_.resize(classes.size());
    result_.leak_w = program.leak_w;
    result_.cuts = program.cuts;
    result_.monotone = program.monotone;
    result_.fixes_trips =
        std::any_of(program.monomials.begin(), program.monomials.end(),
                    [](const Monomial& monomial) { return !monomial.fixed.empty(); });
  }

  SimpleProgram run() {
    for (const Monomial& monomial : program_.monomials) simplify(monomial);
    for (std::vector<std::int32_t>& columns : products_.take())
      result_.products.push_back({std::move(columns)});
    place_in_row_.assign(result_.products.size(), kNone);
    add_row(SimpleProgram::RowKind::kEnergy, program_.energy);
    for (const Row& row : program_.latency) add_row(SimpleProgram::RowKind::kLatency, row);
    for (const LimitRow& limit : program_.limits) {
      SimpleProgram::SimpleRow& row = add_row(SimpleProgram::RowKind::kLimit, limit.row);
      row.limit = limit.limit;
      check_feasible(limit, row);
    }
    for (const SegmentRow& segment : program_.segments) {
      SimpleProgram::SimpleRow& row = add_row(SimpleProgram::RowKind::kSegment, segment.row);
      row.tracked = segment.tracked;
      row.gap = segment.gap;
      row.sunk_below = segment.sunk_below;
      row.carried_by = segment.carried_by;
    }
    for (std::uint32_t m = 0; m < program_.persistent.size(); ++m) {
      if (program_.persistent[m].terms.empty()) continue;
      add_row(SimpleProgram::RowKind::kPersistent, program_.persistent[m]).tracked = m;
    }
    drop_idle_rows();
    result_.find_signs();
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Simplified {
    double constant = 1;
    std::int32_t product = -1;  // -1: constant alone
  };

  /// Index into the program's columns of the class, or -1: the factor is the same for all states,
  /// and multiplied to `constant`.
  std::int32_t column(std::size_t cls, const Monomial& monomial, double* constant) {
    const Column* known =
        tables_[cls]->column(factor_key(bound_, templ_, classes_[cls], monomial), [&] {
          return ClassFactor(bound_, shape_, templ_, classes_[cls], monomial)
              .of_all(tables_[cls]->states, cancel_);
        });
    if (known->minimum == known->maximum) {
      *constant *= known->minimum;
      return -1;
    }
    auto& columns = result_.columns[cls];
    const auto [at, is_new] =
        number_of_column_[cls].try_emplace(known, static_cast<std::int32_t>(columns.size()));
    if (is_new) columns.push_back(known);
    return at->second;
  }

  void simplify(const Monomial& monomial) {
    Simplified simple;
    std::vector<std::int32_t> columns(classes_.size(), -1);
    std::uint64_t hash = 0;
    bool constant = true;
    if (is_cancelled(cancel_)) simple.constant = 0;  // the template is not used
    for (std::size_t c = 0; c < classes_.size() && simple.constant != 0; ++c) {
      columns[c] = column(c, monomial, &simple.constant);
      constant = constant && columns[c] < 0;
      hash = KeyHash::mix(hash ^ static_cast<std::uint32_t>(columns[c]));
    }
    if (!constant)
      simple.product = static_cast<std::int32_t>(products_.number(hash, std::move(columns)));
    simplified_.push_back(simple);
  }

  SimpleProgram::SimpleRow& add_row(SimpleProgram::RowKind kind, const Row& row) {
    SimpleProgram::SimpleRow simple{kind, row.constant, 0, 0, 0, {}};
    for (const RowTerm& term : row.terms) {
      const Simplified& s = simplified_[term.monomial];
      const double coefficient = term.coefficient * s.constant;
      if (s.product < 0) {
        simple.constant += coefficient;
        continue;
      }
      const auto product = static_cast<std::uint32_t>(s.product);
      std::uint32_t& place = place_in_row_[product];
      if (place == kNone) {
        place = static_cast<std::uint32_t>(simple.terms.size());
        simple.terms.push_back({product, coefficient});
      } else {
        simple.terms[place].coefficient += coefficient;
      }
    }
    for (const RowTerm& term : simple.terms) place_in_row_[term.monomial] = kNone;
    std::erase_if(simple.terms, [](const RowTerm& t) { return t.coefficient == 0; });
    result_.rows.push_back(std::move(simple));
    return result_.rows.back();
  }

  /// Bounds of a row over all states.
  std::pair<double, double> range(const SimpleProgram::SimpleRow& row) const {
    double low = row.constant, high = row.constant;
    for (const RowTerm& term : row.terms) {
      double least = 1, most = 1;
      const SimpleProgram::Product& product = result_.products[term.monomial];
      for (std::size_t c = 0; c < classes_.size(); ++c) {
        if (product.column[c] < 0) continue;
        const Column& column = *result_.columns[c][static_cast<std::size_t>(product.column[c])];
        least *= column.minimum;
        most *= column.maximum;
      }
      low += term.coefficient * (term.coefficient > 0 ? least : most);
      high += term.coefficient * (term.coefficient > 0 ? most : least);
    }
    return {low, high};
  }

  void check_feasible(const LimitRow& limit, const SimpleProgram::SimpleRow& row) {
    const double excess = range(row).first - limit.limit;
    if (excess <= 0 || (!result_.feasible && excess <= result_.smallest_excess)) return;
    result_.feasible = false;
    result_.infeasible_component = limit.component;
    result_.smallest_excess = excess;
  }

  /// Rows that can never decide: limits that always hold, latencies that another always exceeds.
  void drop_idle_rows() {
    std::vector<std::pair<double, double>> ranges;
    for (const auto& row : result_.rows) ranges.push_back(range(row));
    double largest_low = 0;
    for (std::size_t r = 0; r < result_.rows.size(); ++r)
      if (result_.rows[r].kind == SimpleProgram::RowKind::kLatency)
        largest_low = std::max(largest_low, ranges[r].first);
    result_.least_latency = largest_low;
    result_.least_energy =
        result_.cut(std::max(0.0, ranges[0].first)) + result_.leak_w * largest_low;
    std::vector<SimpleProgram::SimpleRow> kept;
    bool bottleneck_kept = false;
    for (std::size_t r = 0; r < result_.rows.size(); ++r) {
      const auto& row = result_.rows[r];
      if (row.kind == SimpleProgram::RowKind::kLimit && ranges[r].second <= row.limit) continue;
      if (row.kind == SimpleProgram::RowKind::kLatency) {
        const bool is_bottleneck = !bottleneck_kept && ranges[r].first == largest_low;
        if (!is_bottleneck && ranges[r].second <= largest_low) continue;
        bottleneck_kept = bottleneck_kept || is_bottleneck;
      }
      kept.push_back(row);
    }
    result_.rows = std::move(kept);
  }

  const BoundEinsum& bound_;
  const EinsumShape& shape_;
  const Template& templ_;
  const std::vector<VariableClass>& classes_;
  const std::vector<std::shared_ptr<StateTable>>& tables_;
  const CostProgram& program_;
  const std::atomic<bool>* cancel_;
  std::vector<Simplified> simplified_;  // per monomial of the program
  std::vector<std::unordered_map<const Column*, std::int32_t>> number_of_column_;  // per class
  Numbered<std::vector<std::int32_t>> products_;  // columns, per class
  std::vector<std::uint32_t> place_in_row_;       // per product; of the row that is made
  SimpleProgram result_;
};

}  // namespace

void SimpleProgram::find_signs() {
  for (Product& product : products) product.any_positive = product.any_negative = false;
  for (const SimpleRow& row : rows)
    for (const RowTerm& term : row.terms)
      (term.coefficient > 0 ? products[term.monomial].any_positive
                            : products[term.monomial].any_negative) = true;
}

std::vector<std::int64_t> SimpleProgram::signature() const {
  using Numbers = std::vector<std::int64_t>;
  std::vector<Numbers> of_product, of_row;
  for (const Product& product : products) {
    Numbers& own = of_product.emplace_back();
    for (std::size_t c = 0; c < columns.size(); ++c)
      own.push_back(product.column[c] < 0
                        ? -1
                        : columns[c][static_cast<std::size_t>(product.column[c])]->index);
  }
  for (const SimpleRow& row : rows) {
    std::vector<Numbers> terms;
    for (const RowTerm& term : row.terms) {
      terms.push_back(of_product[term.monomial]);
      terms.back().push_back(std::bit_cast<std::int64_t>(term.coefficient));
    }
    std::sort(terms.begin(), terms.end());
    Numbers& own = of_row.emplace_back(Numbers{
        static_cast<std::int64_t>(row.kind), std::bit_cast<std::int64_t>(row.constant),
        std::bit_cast<std::int64_t>(row.limit), row.tracked, row.gap, row.sunk_below,
        static_cast<std::int64_t>(row.carried_by), static_cast<std::int64_t>(terms.size())});
    for (const Numbers& term : terms) own.insert(own.end(), term.begin(), term.end());
  }
  std::sort(of_row.begin(), of_row.end());
  Numbers result{std::bit_cast<std::int64_t>(leak_w), static_cast<std::int64_t>(of_row.size()),
                 static_cast<std::int64_t>(cuts.size())};
  for (const EnergyCut& own : cuts) {
    result.push_back(std::bit_cast<std::int64_t>(own.constant_j));
    result.push_back(std::bit_cast<std::int64_t>(own.slope));
  }
  for (const Numbers& row : of_row) result.insert(result.end(), row.begin(), row.end());
  return result;
}

SimpleProgram tabulate(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                       const std::vector<VariableClass>& classes,
                       const std::vector<std::shared_ptr<StateTable>>& tables,
                       const CostProgram& program, const std::atomic<bool>* cancel) {
  return Tabulator(bound, shape, templ, classes, tables, program, cancel).run();
}

}  // namespace sluice::fused
