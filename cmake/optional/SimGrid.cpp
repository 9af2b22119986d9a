#include <simgrid/s4u.hpp>

int main() { return simgrid::s4u::Engine::is_initialized() ? 1 : 0; }
