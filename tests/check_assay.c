/* SPDX-License-Identifier: MIT */
#include "check_assay.h"

#include <stdlib.h>
#include <unistd.h>

/* A limit is against hangs, not slow machines; Check reads it where a case is
 * made. */
__attribute__((constructor)) static void be_patient(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
}

int assay_check_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

const char *assay_shared_dir(void)
{
    const char *dir = getenv("ASSAY_SHARED");
    if (!dir)
        dir = ASSAY_TOP_SRCDIR "/../shared";
    return access(dir, R_OK | X_OK) == 0 ? dir : NULL;
}
