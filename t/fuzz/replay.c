
/*
 * The main program of a fuzz target that runs without libFuzzer: gives it each
 * file of the folders that are named, and the empty input.
 *
 *   build/t/fuzz_json t/fuzz/corpus/json
 */

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE  700      /* nftw() */
#endif

#include <ftw.h>
#include <sys/stat.h>

#include "fuzz.h"


static size_t  inputs;


static int
replay(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
    FILE     *fp;
    size_t    size;
    uint8_t  *data;

    if (type == FTW_DNR || type == FTW_NS) {
        fprintf(stderr, "%s cannot be read\n", name);
        return 1;
    }

    if (type != FTW_F) {
        return 0;
    }

    size = st->st_size;

    data = malloc(size);
    fp = fopen(name, "rb");

    if (fp == NULL || (data == NULL && size != 0)
        || fread(data, 1, size, fp) != size)
    {
        fprintf(stderr, "%s cannot be read\n", name);
        return 1;
    }

    fclose(fp);

    /* the last line that is written names the input at fault */

    printf("%s\n", name);
    fflush(stdout);

    (void) LLVMFuzzerTestOneInput(data, size);

    free(data);
    inputs++;

    return 0;
}


int
main(int argc, char *const *argv)
{
    int  i;

    static const uint8_t  none[1];

    (void) LLVMFuzzerTestOneInput(none, 0);

    for (i = 1; i < argc; i++) {
        if (nftw(argv[i], replay, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "%s cannot be replayed\n", argv[i]);
            return 1;
        }
    }

    printf("%zu inputs\n", inputs);

    return inputs == 0;
}
