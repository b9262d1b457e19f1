# shellcheck shell=bash
# Sourced: programs under sanitizers write their reports into a folder of the build, wherever they run.

sanitizers_begin() { # sanitizers_begin OUT
        reports=$(realpath -m "$1/reports")
        rm -rf "$reports"
        mkdir -p "$reports"
        export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1:log_path=$reports/report"
        export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp:print_suppressions=0"
        export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}log_path=$reports/report"
        export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}log_path=$reports/report"
}

# False: there are some. The first ones are shown; all stay in the build folder.
sanitizers_were_silent() {
        local n=0 report
        for report in "$reports"/*; do
                [ -s "$report" ] || continue
                n=$((n + 1))
                [ "$n" -gt 5 ] || { echo "--- $report"; head -n 40 "$report"; }
        done
        [ "$n" -eq 0 ] || { echo "$n reports of sanitizers in $reports" >&2; return 1; }
}
