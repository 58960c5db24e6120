/* A private library of a plugin. Thread rule: none. Flow: found, or not, by the loader's tests. */
int gone_call(void);
__attribute__((visibility("default"))) int gone_call(void) { return 0; }
