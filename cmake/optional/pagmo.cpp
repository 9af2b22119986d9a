#include <pagmo/algorithms/cmaes.hpp>

int main() { return pagmo::cmaes{}.get_gen() > 0 ? 0 : 1; }
