#include <algorithm>

#include "sluice/frontend/load.h"
#include "triples/draw.h"

namespace sluice::triples {
namespace {

struct WorkloadForm {
  std::vector<std::string> einsums;  ///< the name of each is its output
  std::vector<std::string> ranks;    ///< that have a size of their own
  std::vector<std::string> bounds;
  int weight = 1;
  int collective_weight = 1;  ///< among those that collectives are drawn for
  int region_weight = 0;      ///< the same of regions, beside those of collectives
};

const std::vector<WorkloadForm>& workload_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"C[m,n] = A[m,k] * B[k,n]"}, {"M", "N", "K"}, {}, 4},
      {{"C[m] = A[m,k] * B[k,n]"}, {"M", "N", "K"}, {}, 1},
      {{"Y[p,o] = X[XP:p+r,c] * W[r,c,o]"}, {"P", "O", "C"}, {"0 <= r < 3"}, 3},
      {{"Y[p] = X[XP:2*p+r] * W[r]"}, {"P"}, {"0 <= r < 3"}, 2},
      {{"Y[p] = X[XP:p+r] * W[r]"}, {"P", "XP"}, {"0 <= r < 3"}, 2},
      {{"Y[p,q] = X[XH:p+r,XW:q+s] * W[r,s]"}, {"P", "Q"}, {"0 <= r < 2", "0 <= s < 3"}, 2},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[m,l] = T[m,n] * V[n,l]"}, {"M", "N", "K", "L"}, {}, 4, 6},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[x,l] = T[M:x,N:y] * V[N:y,l]"}, {"M", "N", "K", "L"}, {}, 3},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[m,n] = exp(T[m,n])", "Z[m,n] = T[m,n] + U[m,n]"},
       {"M", "N", "K"},
       {},
       3,
       4},
      {{"MX[m] = max(S[m,n])", "EX[m,n] = exp(S[m,n] - MX[m])", "DN[m] = sum(EX[m,n])",
        "Z[m,n] = EX[m,n] / DN[m]"},
       {"M", "N"},
       {},
       3,
       6},
      {{"C[m,n] = A[m,k] * B[k,n]", "MX[m] = max(C[m,n])", "EX[m,n] = exp(C[m,n] - MX[m])",
        "DN[m] = sum(EX[m,n])", "Z[m,n] = EX[m,n] / DN[m]"},
       {"M", "N", "K"},
       {},
       0,
       3},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[m,l] = T[m,n] * V[n,l]", "W[m,n] = exp(T[m,n])"},
       {"M", "N", "K", "L"},
       {},
       0,
       4},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       3},
      {{"T[p,c] = X[XP:p+r,c] * W[r,c]", "Y[q,o] = T[P:2*q+s,c] * V[s,c,o]"},
       {"Q", "C", "O"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:3*q+s] * V[s]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 2"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "Z[o] = Y[Q:o+t] * H[t]"},
       {"O"},
       {"0 <= r < 2", "0 <= s < 2", "0 <= t < 3"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "U[q] = T[P:q] + Y[q]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "U[p] = exp(T[p])", "Y[q] = U[P:2*q+s] * V[s]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      // Rows that nobody reads or that do not exist; values at another place; borders on both
      // sides.
      {{"T[i] = X[i] * U[i]", "Y[p] = T[I:p+r] * W[r]"}, {"P", "I"}, {"0 <= r < 2"}, 1},
      {{"T[i] = X[i] * U[i]", "Y[p] = T[I:p+1] * W[p]"}, {"P"}, {}, 1},
      {{"T[i] = X[i] * U[i]", "Q[j] = T[I:j+1] * W[j]", "Y[p] = Q[J:p+r] * H[r]"},
       {"P"},
       {"0 <= r < 2"},
       2},
      {{"T[i] = X[i] * U[i]", "Y[p] = T[I:p+2*r-1] * W[r]"}, {"P", "I"}, {"0 <= r < 3"}, 2},
      {{"T[i,j] = X[i,j] * U[j]", "Y[p,q] = T[I:p+2*r-1,J:q+s-1] * W[r,s]"},
       {"P", "I", "Q", "J"},
       {"0 <= r < 2", "0 <= s < 2"},
       1},
      // Several readers of rows.
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "Z[z] = T[P:z] * H[z]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       1},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:2*q+s] * V[s]", "Z[z] = T[P:z+t] * H[t]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 2", "0 <= t < 2"},
       1},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "Z[q] = T[P:q+1] * Y[q]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       1},
      {{"R[i+1,m] = max(R[i,m], L[i,m])", "D[i,m] = R[i,m] - R[i+1,m]"}, {"I", "M"}, {}, 2},
      // A state whose reduction may be spread over instances.
      {{"S[i+1,m] = S[i,m] * A[i,k,m]"}, {"I", "M", "K"}, {}, 1},
      {{"T[i,m] = X[i,m] * U[m]", "S[p+1,m] = T[I:p+r,m] * S[p,m]"}, {"P", "M"}, {"0 <= r < 2"}, 1},
      {{"B[i,m] = A[i,m] + C[i,m]", "A[i+1,m] = B[i,m] * C[i,m]"}, {"I", "M"}, {}, 1},
      {{"U[m,n] = T[m,n]", "V[m] = sum(U[m,n])"}, {"M", "N"}, {}, 2},
      {{"U[m,n] = T[m,n]", "W[m,n] = T[m,n]", "V[m] = U[m,n] * W[m,n]"}, {"M", "N"}, {}, 2},
      {{"T[m,n] = A[m,n] * B[n]", "U[n,m] = T[M:n,N:m]"}, {"M", "N"}, {}, 1},
      {{"P[m] = X[m] * F[m]", "Q[m,n] = X[m] * G[n]"}, {"M", "N"}, {}, 1},
      {{"T[m] = A[m,k] * B[k]", "U[m] = T[m] + A[m,k]"}, {"M", "K"}, {}, 1},
      // Rows of several batches, all of which are read.
      {{"T[n,p] = X[n,XP:p+r] * W[r]", "Y[n,q] = T[n,P:q+s] * V[s]"},
       {"N", "Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       0,
       0,
       5},
      {{"T[n,c,p] = X[n,XP:p+r] * W[r,c]", "Y[n,q] = T[n,c,P:2*q+s] * V[c,s]"},
       {"N", "C", "Q"},
       {"0 <= r < 2", "0 <= s < 2"},
       0,
       0,
       4},
      {{"T[n,p] = X[n,XP:p+r] * W[r]", "U[n,p] = exp(T[n,p])", "Y[n,q] = U[n,P:q+s] * V[s]"},
       {"N", "Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       0,
       0,
       4},
      {{"T[n,i] = X[n,i] * U[i]", "Y[n,i] = T[n,I:i+r-1] * W[r]"},
       {"N", "I"},
       {"0 <= r < 3"},
       0,
       0,
       4}};
  return forms;
}

std::string output_name(const std::string& einsum) { return einsum.substr(0, einsum.find('[')); }

/// Of collectives: sizes that several instances share evenly.
std::vector<std::int64_t> sizes_for(bool is_large, Purpose purpose) {
  if (purpose != Purpose::kAny)
    return is_large ? std::vector<std::int64_t>{2, 2, 3, 4, 4, 6}
                    : std::vector<std::int64_t>{2, 3, 4, 4, 6, 8};
  return is_large ? std::vector<std::int64_t>{1, 2, 2, 3, 4}
                  : std::vector<std::int64_t>{1, 2, 3, 4, 4, 5, 6};
}

void turn_maxima_into_minima(Triple& triple) {
  for (EinsumSpec& einsum : triple.einsums)
    if (const std::size_t at = einsum.text.find("max("); at != std::string::npos)
      einsum.text.replace(at, 3, "min");
}

}  // namespace

bool has_copies(const Triple& triple) {
  return std::any_of(triple.einsums.begin(), triple.einsums.end(),
                     [](const EinsumSpec& einsum) { return einsum.is_copy; });
}

void draw_workload(Dice& dice, Triple& triple, Purpose purpose) {
  std::vector<const WorkloadForm*> drawn;
  for (const WorkloadForm& form : workload_forms())
    drawn.insert(drawn.end(),
                 static_cast<std::size_t>(purpose == Purpose::kAny ? form.weight
                                          : purpose == Purpose::kCollectives
                                              ? form.collective_weight
                                              : form.collective_weight + form.region_weight),
                 &form);
  const WorkloadForm& form = *dice.any(drawn);
  const std::vector<std::int64_t> sizes =
      sizes_for(form.einsums.size() + form.ranks.size() > 5, purpose);
  for (const std::string& rank : form.ranks) triple.rank_sizes.emplace_back(rank, dice.any(sizes));
  if (form.einsums.back().starts_with("U[n,m]") &&
      dice.chance(70))  // a transposed reader reads all of it
    triple.rank_sizes[1].second = triple.rank_sizes[0].second;
  triple.bounds = form.bounds;
  for (const std::string& text : form.einsums)
    triple.einsums.push_back({text, output_name(text), false, dice.chance(4) ? 2 : 1});
  if (purpose != Purpose::kAny && dice.chance(30)) turn_maxima_into_minima(triple);
  for (EinsumSpec& einsum : triple.einsums)
    if (einsum.text == einsum.name + "[m,n] = T[m,n]") einsum.is_copy = dice.chance(80);
  if (form.einsums[0].starts_with("R[i+1") && dice.chance(50)) triple.initial = "R: -inf";
  if (form.einsums.back().starts_with("S[")) triple.initial = "S: 2";
  if (dice.chance(20) && !has_copies(triple))
    triple.bits_per_value = triple.einsums[0].name + ": 4, Other: 16";
  if (dice.chance(8)) triple.n_instances = 2;
  if (dice.chance(10)) triple.persistent = "Inputs - Intermediates";
}

std::optional<Workload> workload_of(const Triple& triple) {
  Triple bare = triple;
  bare.components.clear();
  std::string text = to_yaml(bare);
  text = text.substr(0, text.find("arch:\n"));
  auto specs = load_specs_from_text({{"triple.yaml", text}}, {});
  if (!specs || !specs->workload) return std::nullopt;
  return std::move(specs->workload);
}

}  // namespace sluice::triples
