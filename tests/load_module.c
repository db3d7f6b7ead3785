/* SPDX-License-Identifier: MIT
 *
 * load_module MODULE: loads a kernel module and prints its table. Exits 77
 * if it cannot be loaded, which for a GPU mostly means no runtime library.
 */
#include "assay/kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *file = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!file) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "one module, please");
        return argc == 2 ? 77 : 99;
    }
    const struct assay_kernel_module *(*get)(void);
    void *symbol = dlsym(file, "assay_module");
    memcpy(&get, &symbol, sizeof get);
    if (!symbol || get()->abi != ASSAY_KERNEL_ABI)
        return 1;
    printf("%s, device %d, %s\n", get()->name, (int)get()->device,
           get()->build ? get()->build : "unknown build");
    for (size_t i = 0; i < get()->kernel_count; i++)
        printf("  %s: %s\n", get()->kernels[i].name, get()->kernels[i].about);
    return get()->kernel_count == 0;
}
