# SPDX-License-Identifier: MIT
# Tests of validate/ and of the program as a whole.
check_programs_validate =
