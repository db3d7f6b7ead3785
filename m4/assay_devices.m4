# SPDX-License-Identifier: MIT
#
# ASSAY_DEVICES
#
# Which kernel modules are built. Call it after AC_PROG_CC, AC_PROG_CXX and
# LT_INIT. Options: --with-devices, --with-hip-arch, --with-cuda-arch.
#
# Automake conditionals: ASSAY_HIP, ASSAY_CUDA (the host is always built).
# Substituted: HIPCC HIPCCFLAGS HIPCC_ARCH HIP_LIBS, NVCC NVCCFLAGS NVCC_ARCH
# CUDA_LIBS, ASSAY_BUILD_HOST ASSAY_BUILD_HIP ASSAY_BUILD_CUDA.
# Shell variables for a summary: assay_devices (a list), assay_build_host,
# assay_build_hip, assay_build_cuda.

AC_DEFUN([ASSAY_DEVICES], [
AC_REQUIRE([AC_PROG_CXX])dnl
AC_REQUIRE([AC_PROG_SED])dnl
AC_ARG_VAR([HIPCC], [compiler of kernels for AMD GPUs])
AC_ARG_VAR([HIPCCFLAGS], [its flags, apart from floating point and target])
AC_ARG_VAR([NVCC], [compiler of kernels for NVIDIA GPUs])
AC_ARG_VAR([NVCCFLAGS], [its flags, apart from floating point and target])
AC_ARG_WITH([devices],
  [AS_HELP_STRING([--with-devices=LIST],
    [kernel modules to build, of host,hip,cuda @<:@host and those whose
     compiler works@:>@])],
  [assay_with_devices=$withval], [assay_with_devices=auto])
AC_ARG_WITH([hip-arch],
  [AS_HELP_STRING([--with-hip-arch=LIST], [AMD targets @<:@gfx90a@:>@])],
  [assay_hip_arch=$withval], [assay_hip_arch=gfx90a])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST],
    [NVIDIA compute capabilities @<:@90@:>@])],
  [assay_cuda_arch=$withval], [assay_cuda_arch=90])

assay_hip=no assay_cuda=no
AS_CASE([$assay_with_devices],
  [auto|yes], [assay_hip=auto assay_cuda=auto],
  [no], [],
  [for assay_d in `AS_ECHO(["$assay_with_devices"]) | tr , ' '`; do
     AS_CASE([$assay_d],
       [host], [],
       [hip], [assay_hip=yes],
       [cuda], [assay_cuda=yes],
       [AC_MSG_ERROR([--with-devices: unknown device "$assay_d"; known are host, hip and cuda])])
   done])

HIPCC_ARCH=
for assay_a in `AS_ECHO(["$assay_hip_arch"]) | tr , ' '`; do
  HIPCC_ARCH="$HIPCC_ARCH --offload-arch=$assay_a"
done
NVCC_ARCH=
for assay_a in `AS_ECHO(["$assay_cuda_arch"]) | tr , ' '`; do
  NVCC_ARCH="$NVCC_ARCH -gencode=arch=compute_$assay_a,code=sm_$assay_a"
done
: "${HIPCCFLAGS=-O2}"
: "${NVCCFLAGS=-O2}"

dnl With nvcc about, hipcc might take itself for a wrapper of it.
AS_IF([test "$assay_hip" != no],
  [AS_IF([test -z "$HIPCC"],
     [AC_PATH_PROGS([HIPCC], [hipcc], [], [$PATH:/opt/rocm/bin])])
   _ASSAY_DEVICE_TRY([hip], [HIPCC],
     [HIP_PLATFORM=amd $HIPCC -x hip $HIPCC_ARCH $HIPCCFLAGS -fPIC],
     [hip/hip_runtime.h])])
AS_IF([test "$assay_cuda" != no],
  [AS_IF([test -z "$NVCC"],
     [AC_PATH_PROGS([NVCC], [nvcc], [], [$PATH:/usr/local/cuda/bin])])
   _ASSAY_DEVICE_TRY([cuda], [NVCC],
     [$NVCC -x cu -forward-unknown-to-host-compiler $NVCC_ARCH $NVCCFLAGS -fPIC],
     [cuda_runtime.h])])

assay_devices=host
assay_build_host="_ASSAY_DEVICE_VERSION([$CXX]); $CXXFLAGS -ffp-contract=off"
assay_build_hip= assay_build_cuda=
HIP_LIBS= CUDA_LIBS=
AS_IF([test "$assay_hip" = yes],
  [assay_devices="$assay_devices hip"
   assay_build_hip="_ASSAY_DEVICE_VERSION([$HIPCC]);$HIPCC_ARCH $HIPCCFLAGS -ffp-contract=off"
   _ASSAY_DEVICE_LIBS([HIP_LIBS], [$HIPCC], [amdhip64])])
AS_IF([test "$assay_cuda" = yes],
  [assay_devices="$assay_devices cuda"
   assay_build_cuda="_ASSAY_DEVICE_VERSION([$NVCC]);$NVCC_ARCH $NVCCFLAGS -fmad=false"
   _ASSAY_DEVICE_LIBS([CUDA_LIBS], [$NVCC], [cudart])])
_ASSAY_DEVICE_PLAIN([assay_build_host])
_ASSAY_DEVICE_PLAIN([assay_build_hip])
_ASSAY_DEVICE_PLAIN([assay_build_cuda])
AC_SUBST([ASSAY_BUILD_HOST], [$assay_build_host])
AC_SUBST([ASSAY_BUILD_HIP], [$assay_build_hip])
AC_SUBST([ASSAY_BUILD_CUDA], [$assay_build_cuda])
AC_SUBST([HIPCC_ARCH])
AC_SUBST([NVCC_ARCH])
AC_SUBST([HIP_LIBS])
AC_SUBST([CUDA_LIBS])
AM_CONDITIONAL([ASSAY_HIP], [test "$assay_hip" = yes])
AM_CONDITIONAL([ASSAY_CUDA], [test "$assay_cuda" = yes])
])

# _ASSAY_DEVICE_TRY(device, VARIABLE, command, header)
# Turns assay_<device> from auto or yes to yes or no; an asked device that
# does not compile is an error.
m4_define([_ASSAY_DEVICE_TRY], [
AC_MSG_CHECKING([whether kernels for $1 compile])
cat >conftest.hip <<_ASSAY_EOF
#include <$4>
__global__ void conftest(float *x) { x@<:@threadIdx.x@:>@ = 0.0f; }
int main() { return 0; }
_ASSAY_EOF
assay_try=no
AS_IF([test -n "$$2"],
  [AS_IF([$3 -std=c++17 -c conftest.hip -o conftest.$ac_objext >&AS_MESSAGE_LOG_FD 2>&1],
    [assay_try=yes])])
rm -f conftest.hip conftest.$ac_objext
AC_MSG_RESULT([$assay_try])
AS_IF([test "$assay_$1,$assay_try" = yes,no],
  [AS_IF([test -n "$$2"],
    [AC_MSG_ERROR([--with-devices=$1: $$2 cannot compile a kernel for the asked targets, see config.log])],
    [AC_MSG_ERROR([--with-devices=$1: no compiler found, set $2])])])
assay_$1=$assay_try
])

# _ASSAY_DEVICE_VERSION(compiler): a shell word, the line that names a version.
m4_define([_ASSAY_DEVICE_VERSION],
  [`$1 --version 2>/dev/null | $SED -n '/@<:@0-9@:>@\.@<:@0-9@:>@/{p;q;}'`])

# _ASSAY_DEVICE_PLAIN(variable): without what make or a C string would read.
m4_define([_ASSAY_DEVICE_PLAIN],
  [$1=`AS_ECHO(["$$1"]) | $SED 's/@<:@$"#\\\\@:>@//g'`])

# _ASSAY_DEVICE_LIBS(VARIABLE, compiler, library)
# Looks beside the compiler; a folder that the loader does not know is
# recorded in the module.
m4_define([_ASSAY_DEVICE_LIBS], [
$1="-l$3"
assay_bin=`command -v $2`
assay_bin=`readlink -f "$assay_bin" 2>/dev/null || AS_ECHO(["$assay_bin"])`
assay_top=`AS_DIRNAME(["$assay_bin"])`
assay_top=`AS_DIRNAME(["$assay_top"])`
AS_CASE([$assay_top], [/|/usr], [],
  [for assay_d in lib64 lib targets/x86_64-linux/lib; do
     AS_IF([test -r "$assay_top/$assay_d/lib$3.so"],
       [$1="-L$assay_top/$assay_d -Wl,-rpath,$assay_top/$assay_d -l$3"
        break])
   done])
])
