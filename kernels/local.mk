# SPDX-License-Identifier: MIT
#
# The kernel modules. One set of sources is compiled for each device into a
# folder of its own (kernels/host, kernels/hip, kernels/cuda) by libtool's
# compile mode, and the objects are added to the modules by LIBADD.

assayinclude_HEADERS += kernels/assay/kernel.h

kernel_headers = \
	kernels/attention.h kernels/attention_args.h kernels/attention_run.h \
	kernels/device.h kernels/device_host.h kernels/dot.h \
	kernels/element.h kernels/quantize.h kernels/recipe.h
kernel_sources = \
	kernels/attention.hip kernels/device_host.cpp kernels/faulty.def \
	kernels/faulty.hip kernels/faulty_module.c kernels/kernels.def \
	kernels/module.c kernels/module.map kernels/quantize.hip
EXTRA_DIST += $(kernel_headers) $(kernel_sources)

# hipcc exports the handle of every kernel, whatever the visibility says.
kernel_ldflags = -avoid-version -shared \
	-Wl,--version-script=$(srcdir)/kernels/module.map
kernel_link = $(LIBTOOL) $(AM_V_lt) --tag=CXX $(LIBTOOLFLAGS) --mode=link \
	$(CXX) $(CXXFLAGS)

# The host, always.
host_objects = kernels/host/module.lo kernels/host/attention.lo \
	kernels/host/quantize.lo kernels/host/device_host.lo
module_LTLIBRARIES += kernels/assay-host.la
kernels_assay_host_la_SOURCES =
kernels_assay_host_la_LIBADD = $(host_objects)
kernels_assay_host_la_LDFLAGS = -module $(kernel_ldflags)
EXTRA_kernels_assay_host_la_DEPENDENCIES = kernels/module.map
kernels_assay_host_la_LINK = $(kernel_link) \
	$(kernels_assay_host_la_LDFLAGS) $(LDFLAGS) -o $@

# For tests. A check library is static unless it has a place to go to.
faulty_objects = kernels/host/faulty_module.lo kernels/host/faulty.lo \
	kernels/host/quantize.lo kernels/host/device_host.lo
check_LTLIBRARIES += kernels/assay-faulty.la
kernels_assay_faulty_la_SOURCES =
kernels_assay_faulty_la_LIBADD = $(faulty_objects)
kernels_assay_faulty_la_LDFLAGS = -module $(kernel_ldflags) -rpath /nowhere
EXTRA_kernels_assay_faulty_la_DEPENDENCIES = kernels/module.map
kernels_assay_faulty_la_LINK = $(kernel_link) \
	$(kernels_assay_faulty_la_LDFLAGS) $(LDFLAGS) -o $@

hip_objects = kernels/hip/module.lo kernels/hip/attention.lo \
	kernels/hip/quantize.lo
if ASSAY_HIP
module_LTLIBRARIES += kernels/assay-hip.la
kernels_assay_hip_la_SOURCES =
kernels_assay_hip_la_LIBADD = $(hip_objects) $(HIP_LIBS)
kernels_assay_hip_la_LDFLAGS = -module $(kernel_ldflags)
EXTRA_kernels_assay_hip_la_DEPENDENCIES = kernels/module.map
kernels_assay_hip_la_LINK = $(kernel_link) \
	$(kernels_assay_hip_la_LDFLAGS) $(LDFLAGS) -o $@
endif

cuda_objects = kernels/cuda/module.lo kernels/cuda/attention.lo \
	kernels/cuda/quantize.lo
if ASSAY_CUDA
module_LTLIBRARIES += kernels/assay-cuda.la
kernels_assay_cuda_la_SOURCES =
kernels_assay_cuda_la_LIBADD = $(cuda_objects) $(CUDA_LIBS)
kernels_assay_cuda_la_LDFLAGS = -module $(kernel_ldflags)
EXTRA_kernels_assay_cuda_la_DEPENDENCIES = kernels/module.map
kernels_assay_cuda_la_LINK = $(kernel_link) \
	$(kernels_assay_cuda_la_LDFLAGS) $(LDFLAGS) -o $@
endif

# Contraction is part of what is under test, so its flag comes last and is
# not left to CXXFLAGS.
kernel_includes = -I$(srcdir)/kernels
kernel_compile = $(LIBTOOL) $(AM_V_lt) --tag=CXX $(LIBTOOLFLAGS) --mode=compile
kernel_flags = $(kernel_includes) $(CPPFLAGS) -std=c++17 -fvisibility=hidden
host_compile = $(kernel_compile) $(CXX) -x c++ -DASSAY_DEVICE_HOST=1 \
	$(kernel_flags) -Wall -Wextra $(CXXFLAGS) -ffp-contract=off -shared
hip_compile = HIP_PLATFORM=amd $(kernel_compile) $(HIPCC) -x hip \
	-DASSAY_DEVICE_HIP=1 $(HIPCC_ARCH) $(kernel_flags) -Wall -Wextra \
	$(HIPCCFLAGS) -ffp-contract=off -shared
cuda_compile = $(kernel_compile) $(NVCC) -x cu \
	-forward-unknown-to-host-compiler -DASSAY_DEVICE_CUDA=1 $(NVCC_ARCH) \
	$(kernel_flags) -Wall -Wextra $(NVCCFLAGS) -fmad=false -shared
module_compile = $(LIBTOOL) $(AM_V_lt) --tag=CC $(LIBTOOLFLAGS) \
	--mode=compile $(CC) $(kernel_includes) $(CPPFLAGS) -std=c11 -Wall \
	-Wextra -fvisibility=hidden $(CFLAGS) -shared
host_module = -DASSAY_MODULE_DEVICE=ASSAY_KERNEL_HOST \
	-DASSAY_MODULE_BUILD='"$(ASSAY_BUILD_HOST)"'
hip_module = -DASSAY_MODULE_DEVICE=ASSAY_KERNEL_HIP \
	-DASSAY_MODULE_BUILD='"$(ASSAY_BUILD_HIP)"'
cuda_module = -DASSAY_MODULE_DEVICE=ASSAY_KERNEL_CUDA \
	-DASSAY_MODULE_BUILD='"$(ASSAY_BUILD_CUDA)"'

AM_V_KERNEL = $(am__v_KERNEL_@AM_V@)
am__v_KERNEL_ = $(am__v_KERNEL_@AM_DEFAULT_V@)
am__v_KERNEL_0 = @echo "  KERNEL  " $@;
am__v_KERNEL_1 =
kernel_begin = $(AM_V_KERNEL)$(MKDIR_P) $(@D) &&

kernels/host/module.lo: kernels/module.c
	$(kernel_begin) $(module_compile) $(host_module) -c -o $@ $(srcdir)/kernels/module.c
kernels/host/faulty_module.lo: kernels/faulty_module.c
	$(kernel_begin) $(module_compile) $(host_module) -c -o $@ $(srcdir)/kernels/faulty_module.c
kernels/host/attention.lo: kernels/attention.hip
	$(kernel_begin) $(host_compile) -c -o $@ $(srcdir)/kernels/attention.hip
kernels/host/quantize.lo: kernels/quantize.hip
	$(kernel_begin) $(host_compile) -c -o $@ $(srcdir)/kernels/quantize.hip
kernels/host/faulty.lo: kernels/faulty.hip
	$(kernel_begin) $(host_compile) -c -o $@ $(srcdir)/kernels/faulty.hip
kernels/host/device_host.lo: kernels/device_host.cpp
	$(kernel_begin) $(host_compile) -c -o $@ $(srcdir)/kernels/device_host.cpp

kernels/hip/module.lo: kernels/module.c
	$(kernel_begin) $(module_compile) $(hip_module) -c -o $@ $(srcdir)/kernels/module.c
kernels/hip/attention.lo: kernels/attention.hip
	$(kernel_begin) $(hip_compile) -c -o $@ $(srcdir)/kernels/attention.hip
kernels/hip/quantize.lo: kernels/quantize.hip
	$(kernel_begin) $(hip_compile) -c -o $@ $(srcdir)/kernels/quantize.hip

kernels/cuda/module.lo: kernels/module.c
	$(kernel_begin) $(module_compile) $(cuda_module) -c -o $@ $(srcdir)/kernels/module.c
kernels/cuda/attention.lo: kernels/attention.hip
	$(kernel_begin) $(cuda_compile) -c -o $@ $(srcdir)/kernels/attention.hip
kernels/cuda/quantize.lo: kernels/quantize.hip
	$(kernel_begin) $(cuda_compile) -c -o $@ $(srcdir)/kernels/quantize.hip

# Every header of every object: simpler than tracking three compilers. The
# Makefile holds the flags.
$(host_objects) $(hip_objects) $(cuda_objects) kernels/host/faulty.lo \
kernels/host/faulty_module.lo: \
	$(kernel_headers) kernels/assay/kernel.h kernels/kernels.def \
	kernels/faulty.def Makefile

CLEANFILES += kernels/host/*.lo kernels/host/*.o kernels/host/.libs/*.o \
	kernels/hip/*.lo kernels/hip/*.o kernels/hip/.libs/*.o \
	kernels/cuda/*.lo kernels/cuda/*.o kernels/cuda/.libs/*.o
