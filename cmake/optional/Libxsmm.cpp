#include <libxsmm.h>

int main() {
  libxsmm_init();
  libxsmm_finalize();
}
