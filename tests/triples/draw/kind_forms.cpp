#include "triples/draw/workload_forms.h"

namespace sluice::triples {

const std::vector<WorkloadForm>& windowed_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"D[X:2*p+r] = G[p] * W[r]"}, {"P"}, {"0 <= r < 3"}, 3},
      {{"D[X:p+r] = G[p] * W[r]"}, {"P"}, {"0 <= r < 3"}, 2},
      {{"D[X:p+r] = G[p] * W[r]"}, {"P", "X"}, {"0 <= r < 3"}, 1},
      // Points between the strides that nobody makes.
      {{"D[X:3*p+r] = G[p] * W[r]"}, {"P"}, {"0 <= r < 2"}, 2},
      {{"D[X:2*p+2*r,c] = G[p,c] * W[r,c]"}, {"P", "C"}, {"0 <= r < 2"}, 1},
      {{"D[X:p+2*r] = G[p] * W[r]"}, {"P"}, {"0 <= r < 3"}, 1},
      {{"D[X:p+r,c] = G[p,o] * W[r,c,o]"}, {"P", "C", "O"}, {"0 <= r < 2"}, 3},
      {{"D[X:p+r,c] = G[p,c] * W[r,c]"}, {"P", "C"}, {"0 <= r < 3"}, 2},
      {{"D[H:p+r,X:2*q+s] = G[p,q] * W[r,s]"}, {"P", "Q"}, {"0 <= r < 2", "0 <= s < 3"}, 2},
      {{"D[X:p+r+s] = G[p] * W[r,s]"}, {"P"}, {"0 <= r < 2", "0 <= s < 2"}, 1},
      {{"D[X:2*p+r] = C[p,r]"}, {"P"}, {"0 <= r < 3"}, 1},
      {{"D[X:2*p+r,m] = max(C[p,r,m])"}, {"P", "M"}, {"0 <= r < 3"}, 1},
      {{"D[X:p+r] = G[Y:p+s] * W[r,s]"}, {"P"}, {"0 <= r < 2", "0 <= s < 2"}, 1},
      // Read where nobody made anything: these have an initial value.
      {{"T[X:3*p+r] = A[p] * W[r]", "Z[x] = exp(T[x])"}, {"P"}, {"0 <= r < 2"}, 2, 2, 2},
      {{"T[X:2*p,c] = A[p,c] * W[c]", "Z[x,c] = T[x,c] * H[x]"}, {"P", "X", "C"}, {}, 2, 2, 2},
      // Read by others, made from what others made.
      {{"U[p] = exp(A[p])", "D[X:2*p+r] = U[p] * W[r]"}, {"P"}, {"0 <= r < 3"}, 2},
      {{"U[n,p] = A[n,p] * B[n]", "D[n,X:2*p+r] = U[n,p] * W[r]"},
       {"N", "P"},
       {"0 <= r < 3"},
       2,
       2,
       2},
      {{"T[X:2*p+r] = A[p] * W[r]", "Z[x] = exp(T[x])"}, {"P"}, {"0 <= r < 3"}, 2},
      {{"T[n,X:p+r] = A[n,p] * W[r]", "Z[n,x] = T[n,x] * H[n]"},
       {"N", "P"},
       {"0 <= r < 2"},
       2,
       2,
       2},
      {{"T[X:3*p+r] = A[p] * W[r]", "Z[y] = T[X:3*y] * H[y]"}, {"P"}, {"0 <= r < 2"}, 1},
      {{"T[X:p+r] = A[p] * W[r]", "Y[q] = T[X:q+s] * V[s]"},
       {"P"},
       {"0 <= r < 2", "0 <= s < 2"},
       1},
      {{"T[X:p+r] = A[p] * W[r]", "D[Y:x+s] = T[x] * V[s]"},
       {"P"},
       {"0 <= r < 2", "0 <= s < 2"},
       1},
      {{"T[p] = X[XP:p+r] * W[r]", "D[E:p+s] = T[p] * V[s]"},
       {"P"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      {{"T[X:p+r,c] = A[p,c] * W[r]", "U[x,o] = T[x,c] * V[c,o]", "Z[x,o] = exp(U[x,o])"},
       {"P", "C", "O"},
       {"0 <= r < 2"},
       2}};
  return forms;
}

const std::vector<WorkloadForm>& many_loops_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"Y[n,o,p,q] = X[n,c,H:p+r,V:q+s] * W[o,c,r,s]"},
       {"N", "O", "P", "Q", "C"},
       {"0 <= r < 2", "0 <= s < 2"}},
      {{"D[n,c,H:p+r,V:2*q+s] = G[n,o,p,q] * W[o,c,r,s]"},
       {"N", "O", "P", "Q", "C"},
       {"0 <= r < 2", "0 <= s < 2"}},
      {{"C[a,b,m,n] = A[a,b,m,k] * B[a,b,k,n]"}, {"A", "B", "M", "N", "K"}, {}},
      {{"T[a,b,m,n] = A[a,b,m,k] * B[a,b,k,n]", "Z[a,b,m,n] = exp(T[a,b,m,n])"},
       {"A", "B", "M", "N", "K"},
       {}}};
  return forms;
}

const std::vector<WorkloadForm>& cycle_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"B[i,m] = A[i,m] + C[i,m]", "A[i+1,m] = B[i,m] * C[i,m]"}, {"I", "M"}, {}, 2},
      {{"B[i,m] = exp(A[i,m])", "A[i+1,m] = B[i,m] * C[i,m]"}, {"I", "M"}, {}, 2},
      {{"B[i,m] = A[i,m] + C[i,m]", "A[i+1,m] = B[i,m] * F[i,m]", "O[i,m] = A[i+1,m] + B[i,m]"},
       {"I", "M"},
       {},
       1},
      {{"S[i+1,m] = S[i,m] * A[i,k,m]", "O[i,m] = exp(S[i+1,m])"}, {"I", "M", "K"}, {}, 1}};
  return forms;
}

const std::vector<WorkloadForm>& parts_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"T[m,N:a] = A[m,k] * F[k,a]", "T[m,N:b+2] = A[m,k] * H[k,b]", "Z[m,n] = exp(T[m,n])"},
       {"M", "K", "B"},
       {"0 <= a < 2"},
       3},
      {{"T[m,N:a] = A[m,k] * F[k,a]", "T[m,N:b+2] = A[m,k] * H[k,b]"},
       {"M", "K", "B"},
       {"0 <= a < 2"},
       2},
      {{"T[M:a,n] = A[a,n] * F[n]", "T[M:b+2,n] = exp(G[b,n])", "Z[m,l] = T[m,n] * V[n,l]"},
       {"N", "L", "B"},
       {"0 <= a < 2"},
       2},
      {{"T[m,N:a] = max(S[m,a,k])", "T[m,N:b+3] = sum(G[m,b,k])", "Z[m] = sum(T[m,n])"},
       {"M", "K", "B"},
       {"0 <= a < 3"},
       1},
      // Readers of parts, of parts across the border, and of windows.
      {{"T[N:a,m] = A[a,m] * F[m]", "T[N:b+2,m] = exp(G[b,m])", "Z[m] = sum(T[N:a,m])",
        "Y[b,m] = T[N:b+2,m] * H[b]"},
       {"M", "B"},
       {"0 <= a < 2"},
       2},
      {{"T[N:a,m] = A[a,m] * F[m]", "T[N:b+2,m] = exp(G[b,m])", "Z[b,m] = T[N:b+1,m] * H[m]"},
       {"M", "B"},
       {"0 <= a < 2"},
       2},
      {{"T[X:a] = A[a] * F[a]", "T[X:p+2] = G[p] * H[p]", "Y[p] = T[X:p+s] * V[s]"},
       {"P"},
       {"0 <= a < 2", "0 <= s < 2"},
       2},
      // Four boxes in two directions.
      {{"T[M:a,N:c] = A[a,c] * F[c]", "T[M:a,N:d+2] = A[a,c] * G[c,d]", "T[M:b+2,n] = exp(H[b,n])",
        "Z[m,n] = T[m,n] + T[m,n]"},
       {"B", "D"},
       {"0 <= a < 2", "0 <= c < 2"},
       1}};
  return forms;
}

const std::vector<WorkloadForm>& common_variable_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"Z[m,n] = A[m,n] + B[m,n]"}, {"M", "N"}, {}, 2},
      {{"C[b,m,n] = A[b,m,k] * B[b,k,n]"}, {"B", "M", "N", "K"}, {}, 3},
      {{"Y[p,c] = X[XP:p+r,c] * W[r,c]"}, {"P", "C"}, {"0 <= r < 3"}, 2},
      {{"D[X:2*p+r,c] = G[p,c] * W[r,c]"}, {"P", "C"}, {"0 <= r < 3"}, 1},
      {{"T[b,m] = A[b,m,k] * B[b,k]", "U[b,m] = exp(T[b,m])"}, {"B", "M", "K"}, {}, 2},
      {{"MX[m] = max(S[m,n])", "EX[m,n] = exp(S[m,n] - MX[m])", "Z[m,n] = EX[m,n] / MX[m]"},
       {"M", "N"},
       {},
       2},
      {{"T[c,p] = X[c,XP:p+r] * W[c,r]", "Y[c,q] = T[c,P:q+s] * V[c,s]"},
       {"C", "Q"},
       {"0 <= r < 2", "0 <= s < 2"},
       1},
      {{"R[i+1,m] = max(R[i,m], L[i,m])", "D[i,m] = R[i,m] - R[i+1,m]"}, {"I", "M"}, {}, 1}};
  return forms;
}

}  // namespace sluice::triples
