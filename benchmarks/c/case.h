/* What a C program is called with, and how it is timed. */
#include <time.h>

typedef struct {
    const double *in;
    double *grad;
    double *work;
    double *tape;
    long n;
    long steps;
    double value;
} Case;

/* Seconds for `repeats` runs; the volatile pointer keeps the compiler from hoisting a call. */
double seconds(void (*run)(Case *), Case *c, long repeats) {
    void (*volatile call)(Case *) = run;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < repeats; i++) call(c);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}
