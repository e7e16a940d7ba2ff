#include "explanation_json.h"

#include <nlohmann/json.hpp>

#include "sluice/support/error.h"

namespace sluice {

std::string resource_name(Resource resource) {
  switch (resource) {
    case Resource::kThroughput:
      return "throughput";
    case Resource::kSize:
      return "size";
    case Resource::kFanout:
      return "fanout";
  }
  fail_internal_check("Resource", __FILE__, __LINE__, "a resource without a name");
}

}  // namespace sluice

namespace sluice::cli {
namespace {

Json finite_json(const std::optional<double>& value) {
  return value ? finite_or_null(*value) : Json(nullptr);
}

std::string kind_name(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::kNotSearched:
      return "not_searched";
    case Answer::Kind::kFound:
      return "found";
    case Answer::Kind::kNothingFound:
      return "nothing_found";
    case Answer::Kind::kNoMapping:
      return "no_mapping";
  }
  fail_internal_check("Answer", __FILE__, __LINE__, "an answer without a name");
}

/// What no mapping's objective is below, where the search says so.
Json bound_of(const Answer& answer) {
  switch (answer.guarantee.kind) {
    case GuaranteeKind::kOptimal:
      return finite_or_null(answer.objective);
    case GuaranteeKind::kWithinEpsilon:
      return finite_or_null(answer.objective / (1 + answer.guarantee.epsilon));
    case GuaranteeKind::kGap:
      return finite_or_null(answer.guarantee.bound);
    case GuaranteeKind::kNone:
      break;
  }
  return nullptr;
}

Json answer_to_json(const Answer& answer) {
  const bool is_found = answer.kind == Answer::Kind::kFound;
  const auto number = [&](double value) {
    return is_found ? finite_or_null(value) : Json(nullptr);
  };
  return {{"status", kind_name(answer.kind)},
          {"objective", number(answer.objective)},
          {"energy_j", number(answer.energy_j)},
          {"latency_s", number(answer.latency_s)},
          {"guarantee", is_found ? Json(guarantee_name(answer.guarantee.kind)) : Json(nullptr)},
          {"bound", is_found ? bound_of(answer) : Json(nullptr)},
          {"reason", answer.reason.empty() ? Json(nullptr) : Json(answer.reason)}};
}

Json account_to_json(const EinsumAccount& account, const BoundProblem& problem) {
  Json busy = Json::array();
  for (const BusyComponent& component : account.busy)
    busy.push_back({{"component", problem.arch[component.component].name},
                    {"latency_s", finite_or_null(component.latency_s)}});
  return {{"einsum", problem.workload[account.einsum].name},
          {"energy_j", finite_or_null(account.energy_j)},
          {"latency_s", finite_or_null(account.latency_s)},
          {"collectives_s", finite_or_null(account.collectives_s)},
          {"objective_part", finite_json(account.objective_part)},
          {"busy", std::move(busy)},
          {"compute_use", finite_json(account.compute_use)},
          {"alone", account.alone ? answer_to_json(*account.alone) : Json(nullptr)}};
}

Json choice_to_json(const ExchangeChoice& choice, const BoundProblem& problem) {
  return {{"tensor", problem.workload[choice.tensor].name},
          {"einsum", problem.workload[choice.producer].name},
          {"component", choice.memory ? Json(problem.arch[*choice.memory].name) : Json(nullptr)},
          {"fused", choice.on_chip},
          {"other", answer_to_json(choice.other)}};
}

Json holding_to_json(const HoldingChoice& choice, const BoundProblem& problem) {
  return {{"tensor", problem.workload[choice.tensor].name},
          {"component", problem.arch[choice.memory].name},
          {"held", choice.is_held},
          {"other", answer_to_json(choice.other)}};
}

Json price_to_json(const ShadowPrice& price, const BoundProblem& problem) {
  Json settings = Json::array();
  for (const auto& [path, value] : price.settings) settings.push_back(path + "=" + value);
  return {{"component", problem.arch[price.component].name},
          {"what", resource_name(price.resource)},
          {"dimension", price.dimension.empty() ? Json(nullptr) : Json(price.dimension)},
          {"from", finite_json(price.from)},
          {"to", finite_json(price.to)},
          {"set", std::move(settings)},
          {"with", answer_to_json(price.answer)}};
}

}  // namespace

Json explanation_to_json(const Explanation& explanation, const BoundProblem& problem) {
  Json einsums = Json::array(), exchanges = Json::array(), holdings = Json::array(),
       prices = Json::array();
  for (const EinsumAccount& account : explanation.einsums)
    einsums.push_back(account_to_json(account, problem));
  for (const ExchangeChoice& choice : explanation.exchanges)
    exchanges.push_back(choice_to_json(choice, problem));
  for (const HoldingChoice& choice : explanation.holdings)
    holdings.push_back(holding_to_json(choice, problem));
  for (const ShadowPrice& price : explanation.shadow_prices)
    prices.push_back(price_to_json(price, problem));
  return {{"status", explanation.is_interrupted ? "interrupted" : "ok"},
          {"objective", finite_or_null(explanation.objective)},
          {"questions", explanation.n_questions},
          {"answered", explanation.n_answers},
          {"einsums", std::move(einsums)},
          {"exchanges", std::move(exchanges)},
          {"holdings", std::move(holdings)},
          {"shadow_prices", std::move(prices)}};
}

}  // namespace sluice::cli
