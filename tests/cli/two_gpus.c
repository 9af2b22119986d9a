/* In place of NVIDIA's library: two GPUs that are always as busy. */
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}
static char gpus[2];
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned int* rates) {
  rates[0] = device == &gpus[0] ? 20 : 80;
  rates[1] = 1;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* bytes) {
  bytes[0] = 8000000000ULL;
  bytes[2] = device == &gpus[0] ? 1000000000ULL : 2000000000ULL;
  bytes[1] = bytes[0] - bytes[2];
  return 0;
}
