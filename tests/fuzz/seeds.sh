# SPDX-License-Identifier: MIT
# Seeds of HDF5 files, made by the program; sourced. $assay is the program,
# $modules the folder of kernel modules; both are absolute.

# old FILE...: the same in libhdf5's oldest form, which has no checksums, so
# that a byte that changes reaches the reader.
old() {
    command -v h5repack >/dev/null || return 0
    for file in "$@"; do
        h5repack --low=0 "$file" "$(dirname "$file")/old_$(basename "$file")" ||
            return 1
    done
}

# make_h5_seeds FOLDER: makes set/, record/ and tensors/ in it.
make_h5_seeds() (
    mkdir -p "$1/set" "$1/record" "$1/tensors" && cd "$1" || exit 1
    cat >mine.json <<END
{"recipes": [{"name": "mine", "like": "mxfp8", "q": "floor8"}],
 "quantizers": [{"name": "floor8", "like": "mxfp8", "rule": "floor"}]}
END
    cat >limits.json <<END
{"schema": "assay-limits/1", "limits": [{"gate": "lse", "limit": 1.5,
 "recipe": "mxfp4", "reason": "tried", "date": "2026-12-02"}]}
END
    cat >known.json <<END
{"schema": "assay-quarantine/1", "known": [{"verdict": "wrong",
 "tracker": "https://tracker.example/1", "reason": "tried",
 "date": "2026-12-02"}]}
END
    generate() { "$assay" generate --dist normal --threads 1 "$@"; }
    generate --shape b1,hq2,hk1,q2,k3,d4,causal --recipe bf16,mxfp4,i8fp8 \
        -o set/plain.h5 || exit 1
    generate --shape b1,hq2,hk1,q2,k3,d4 --precision f64 --recipe-file \
        mine.json --limits limits.json -o set/mine.h5 || exit 1
    generate --shape b1,h1,q1,k0,d2 --recipe bf16 -o set/no_keys.h5 || exit 1
    generate --shape b1,hq2,hk1,q3,k4,d64,causal --recipe e4m3 -o wide.h5 ||
        exit 1
    generate --shape b1,hq2,hk1,q3,k4,d16,causal --recipe mxfp4 \
        -o narrow.h5 || exit 1

    "$assay" validate wide.h5 --module "$modules/assay-faulty.so" --kernel \
        'last_key*,crash*,no_lse*' --input raw --quarantine known.json \
        --limit lse=2 -o record/wrong.h5 >report
    test $? -eq 1 || exit 1
    "$assay" export narrow.h5 --payloads -o payloads.safetensors &&
        "$assay" validate narrow.h5 --outputs payloads.safetensors \
            -o record/payloads.h5 >report || exit 1

    case=$(h5ls set/plain.h5/cases | awk '{ print $1; exit }')
    for part in q k v; do
        h5copy -i set/plain.h5 -o tensors/heads.h5 -s "/cases/$case/$part" \
            -d "/x.$part" || exit 1
    done
    old set/*.h5 record/*.h5 tensors/*.h5
)
