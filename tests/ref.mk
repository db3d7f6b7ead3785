# SPDX-License-Identifier: MIT
# Unit tests of ref/.
check_programs_ref =
