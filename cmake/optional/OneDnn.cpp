#include <dnnl.hpp>

int main() { return dnnl::engine::get_count(dnnl::engine::kind::cpu) > 0 ? 0 : 1; }
