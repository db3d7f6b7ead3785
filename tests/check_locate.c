/* stub */
#include "check_assay.h"
int main(void) { return 0; }
