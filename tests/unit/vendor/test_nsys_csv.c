/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nsys stats. Case numbers are those of the list of edge cases in
 * docs/reference/import.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/sys.h"
#include "tests/support/nsys_file.h"
#include "tests/support/play.h"

static llmperf_profile *import_text(const char *text)
{
    return import_file(write_test_file("stats.csv", text, strlen(text)), 0);
}

static void sums_of_kernels_are_rows_without_regions(void **state)
{
    llmperf_profile *profile = import_text(
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "70.0,700,7,100.0,90.0,80,200,4.5,\"void k<int, 4>(int, float)\"\n"
        "29.1,300,1,300.0,300.0,300,300,0.0,plain\n");
    llmperf_kernel_stats kernel = find_kernel(profile, "void k<int, 4>(int, float)", NULL);

    (void)state; /* Case 20: percentages do not add up; shares are computed. */
    assert_int_equal(kernel.calls, 7);
    check_close(kernel.total_ms, 0.0007);
    check_close(kernel.p50_ms, 0.00009);
    check_close(kernel.share, 0.7);
    assert_true(isnan(kernel.p95_ms));
    assert_int_equal(kernel.device, -1);
    assert_int_equal(ledger_of(profile).kernels_seen, 8);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 8);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

static void case_12_headers_of_2021_mean_the_same(void **state)
{
    llmperf_profile *profile =
        import_text("Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,StdDev,Name\n"
                    "100.0,600,2,300,200,400,1.0,k\n");

    (void)state;
    check_close(find_kernel(profile, "k", NULL).mean_ms, 0.0003);
    check_close(find_kernel(profile, "k", NULL).max_ms, 0.0004);
    llmperf_profile_free(profile);
}

static void units_stand_in_the_header(void **state)
{
    llmperf_profile *profile = import_text(
        "Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name\n"
        "100.0,\"482,333\",1,\"482,333\",\"482,333\",\"482,333\",\"482,333\",0,k\n");

    (void)state; /* Case 7: and a decimal comma, as some locales have it. */
    check_close(find_kernel(profile, "k", NULL).total_ms, 0.482333);
    llmperf_profile_free(profile);
}

static void several_tables_come_on_one_output(void **state)
{
    llmperf_profile *profile = import_text(
        "\nGenerating SQLite file x.sqlite from x.nsys-rep\nExporting 5 events: [===100%]\n"
        "Processing [x.sqlite] with [/opt/a, b/cuda_gpu_kern_sum.py]... \n\n"
        " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "100.0,700,7,100.0,90.0,80,200,4.5,k\n\n"
        "Processing [x.sqlite] with [cuda_api_sum.py]... \n ** CUDA API Summary (cuda_api_sum):\n\n"
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "50.0,70,9,1,1,1,1,1,cudaLaunchKernel\n50.0,70,3,1,1,1,1,1,cudaMemcpyAsync\n\n"
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "50.0,70,5,1,1,1,1,1,poll\n\n"
        "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
        "100.0,40,4,10,10,10,10,0,[CUDA memcpy Host-to-Device]\n\n"
        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
        "1.500,4,0.4,0.4,0.4,0.4,0,[CUDA memcpy Host-to-Device]\n\n"
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev "
        "(ns),Style,Range\n"
        "100.0,5000,2,2500,2500,2000,3000,707.1,PushPop,:LLM@prefill\n");

    (void)state; /* Case 13. */
    assert_int_equal(find_kernel(profile, "k", NULL).calls, 7);
    assert_int_equal(find_kernel(profile, "[memcpy HtoD]", NULL).bytes, 1500000);
    check_close(find_kernel(profile, "[memcpy HtoD]", NULL).total_ms, 0.00004);
    assert_int_equal(ledger_of(profile).launches_expected, 9);
    assert_int_equal(ledger_of(profile).memory_calls, 3);
    assert_int_equal(ledger_of(profile).memory_seen, 4);
    check_close(find_region(profile, "LLM@prefill", -1).wall_std_ms, 0.0007071);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).instances, 2);
    llmperf_profile_free(profile);
}

static const char ranges[] =
    "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,"
    "RangeId,ParentId,RangeStack,NameTree\n"
    "100,900,800,100,700,:LLM@prefill,5,6,1,1,7,3,:3:7,--:LLM@prefill\n"
    "200,300,100,0,100,\"TSL:Xla:#op=a,b#\",5,6,2,0,8,7,:3:7:8,----x\n"
    "1000,1100,100,0,100,aten::mm,5,6,0,0,9,,:9,aten::mm\n";

static void traces_of_ranges_are_regions(void **state)
{
    llmperf_profile *profile = import_text(ranges);

    (void)state; /* Cases 18 and 19: a leading colon, and a parent that the file does not have. */
    check_close(find_region(profile, "LLM@prefill", -1).wall_sum_ms, 0.0008);
    assert_int_equal(find_region(profile, "LLM@prefill/TSL@Xla:#op=a,b#", -1).instances, 1);
    assert_true(has_region(profile, "default@aten::mm"));
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    llmperf_profile_free(profile);
}

#define DEVICE_TRACE(throughput, green)                                                            \
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem "  \
    "(MB),Bytes (MB),Throughput (" throughput "),SrcMemKd,DstMemKd,Device,Ctx," green              \
    "Strm,Name\n"

static void case_11_traces_of_all_versions_join_to_one_profile(void **state)
{
    static const char *const devices[] = {
        DEVICE_TRACE("MB/s", "GreenCtx,") "5000,700,12,1,1,1,1,1,1,1,0,0,,,,,NVIDIA Thor (0),1,,13,"
                                          "\"k(int, int)\"\n"
                                          "6000,100,13,,,,,,,,,,4.194,1,Pinned,Device,NVIDIA Thor "
                                          "(0),1,,13,[CUDA memcpy Host-to-Device]\n",
        DEVICE_TRACE("MBps", "") "5000,700,12,1,1,1,1,1,1,1,0,0,,,,,NVIDIA Thor (0),1,13,"
                                 "\"k(int, int)\"\n"
                                 "6000,100,13,,,,,,,,,,4.194,1,Pinned,Device,NVIDIA Thor "
                                 "(0),1,13,[CUDA memcpy HtoD]\n",
    };
    static const char *const calls[] = {
        "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
        "250,20,cudaLaunchKernel,0,12,5,6,20,main\n400,20,cudaMemcpyAsync,0,13,5,6,20,main\n",
        "Start (ns),Duration (ns),Name,Result,CorrID,PID,TID,T-Pri,Thread Name\n"
        "250,20,cudaLaunchKernel,0,12,5,6,20,main\n400,20,cudaMemcpyAsync,0,13,5,6,20,main\n",
    };

    (void)state;
    for (int version = 0; version < 2; version++) {
        const char *paths[] = { write_test_file("r.csv", ranges, sizeof(ranges) - 1),
                                write_test_file("d.csv", devices[version],
                                                strlen(devices[version])),
                                write_test_file("c.csv", calls[version], strlen(calls[version])) };
        llmperf_profile *profile;

        assert_int_equal(llmperf_import(paths, 3, NULL, &profile), 0);
        assert_int_equal(find_kernel(profile, "k(int, int)", "LLM@prefill/TSL@Xla:#op=a,b#").calls,
                         1);
        check_close(find_region(profile, "LLM@prefill", 0).gpu_busy_ms, 0.0008);
        assert_int_equal(find_region(profile, "LLM@prefill", 0).process_id, 5);
        assert_int_equal(find_kernel(profile, "[memcpy HtoD]", "LLM@prefill").bytes, 4194000);
        assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
        llmperf_profile_free(profile);
    }
}

static void a_trace_without_calls_attributes_nothing(void **state)
{
    llmperf_profile *profile = import_text(DEVICE_TRACE(
        "MB/s", "") "5000,700,12,1,1,1,1,1,1,1,0,0,,,,,NVIDIA Thor (0),1,13,k\nbad,row,,,,,,,,,,,,"
                    ",,,,,,\n");

    (void)state;
    assert_int_equal(ledger_of(profile).kernels_unattributed, 1);
    assert_int_equal(ledger_of(profile).launches_expected, LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "cuda_api_trace"));
    assert_true(has_problem(profile, "1 table rows were cut"));
    llmperf_profile_free(profile);
}

static void projections_are_metrics_and_walls(void **state)
{
    llmperf_profile *profile = import_text(
        "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj "
        "Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range "
        "Lvl,Avg Num Child\n"
        ":step,PushPop,900,1200,3,300,300,200,400,100,6,2.0,0,0\n\n"
        "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min "
        "(ns),Max (ns),StdDev (ns),Kernel Name\n"
        ":step,PushPop,5,6,3,6,840,140,140,140,140,0,k\n");
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    (void)state;
    assert_int_equal(find_region(profile, "default@step", -1).instances, 3);
    check_close(find_region(profile, "default@step", -1).wall_sum_ms, 0.0012);
    check_close(find_region(profile, "default@step", -1).kernel_ms, 0.00084);
    assert_int_equal(find_region(profile, "default@step", -1).kernel_count, 6);
    assert_int_equal(llmperf_profile_metric(profile, 0, &metric), 0);
    assert_string_equal(metric.name, "projected time");
    check_close(metric.mean, 300);
    check_close(metric.std, 100);
    llmperf_profile_free(profile);
}

static void launches_with_their_kernels_are_a_timeline(void **state)
{
    llmperf_profile *profile = import_text(
        "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur "
        "(ns),Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name\n"
        "10,5,15,5,20,30,40,7,8,1,cudaLaunchKernel,1 1 1,1 1 1,k\n");

    (void)state;
    assert_int_equal(find_kernel(profile, "k", "").device, 1);
    check_close(find_kernel(profile, "k", "").total_ms, 0.00003);
    assert_int_equal(ledger_of(profile).launches_expected, 1);
    llmperf_profile_free(profile);
}

static int import_status(const char *text)
{
    const char *path = write_test_file("stats.csv", text, strlen(text));
    llmperf_profile *profile = NULL;
    int status = llmperf_import(&path, 1, NULL, &profile);

    llmperf_profile_free(profile);
    return status;
}

static void tables_for_people_and_skipped_reports_are_refused(void **state)
{
    (void)state;
    assert_int_equal(import_status(" ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
                                   " Time (%)  Total Time (ns)  Instances\n"
                                   " --------  ---------------  ---------\n"
                                   "    100.0        1,831,281          3\n"),
                     LLMPERF_EFORMAT);
    check_error("is a formatted table, not CSV");
    assert_int_equal(import_status("SKIPPED: x.sqlite does not contain CUDA kernel data.\n"),
                     LLMPERF_EFORMAT);
    check_error("no data for this report");
}

#define DEVICE_ROW(start, duration, device, name)                                                  \
    start "," duration ",12,1,1,1,1,1,1,1,0,0,,,,," device ",1,13," name "\n"

static void rows_of_the_device_that_cannot_be_are_counted_and_left_out(void **state)
{
    llmperf_profile *profile =
        import_text(DEVICE_TRACE("MB/s", "") DEVICE_ROW("5000", "700", "GPU (65535)", "k")
                        DEVICE_ROW("6000", "-700", "GPU (0)", "negative")
                            DEVICE_ROW("7000", "700", "GPU (65536)", "too_large"));

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 1);
    assert_int_equal(find_kernel(profile, "k", NULL).device, 65535);
    assert_true(has_problem(profile, "2 table rows were cut"));
    llmperf_profile_free(profile);
}

static void unified_memory_is_moved_by_copies_not_by_kernels(void **state)
{
    llmperf_profile *profile = import_text(DEVICE_TRACE("MB/s", "") DEVICE_ROW(
        "5000", "700", "GPU (0)", "[CUDA Unified Memory memcpy HtoD]"));

    (void)state;
    assert_int_equal(ledger_of(profile).kernels_seen, 0);
    assert_int_equal(ledger_of(profile).memory_seen, 1);
    assert_int_equal(find_kernel(profile, "[memcpy HtoD]", NULL).kind, LLMPERF_ACTIVITY_MEMCPY);
    llmperf_profile_free(profile);
}

static void calls_that_were_cut_are_counted(void **state)
{
    llmperf_profile *profile = import_text(DEVICE_TRACE("MB/s", "") DEVICE_ROW(
        "5000", "700", "GPU (0)",
        "k") "\n"
             "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
             "250,20,cudaLaunchKernel,0,12,5,6,20,main\n"
             "400,,cudaLaunchKernel,0,13,5,6,20,main\n");

    (void)state;
    assert_true(has_problem(profile, "1 table rows were cut"));
    llmperf_profile_free(profile);
}

static void kernels_that_two_reports_list_count_once(void **state)
{
    static const char device[] = DEVICE_TRACE("MB/s", "") DEVICE_ROW("20", "30", "GPU (1)", "k");
    static const char launches[] =
        "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur "
        "(ns),Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name\n"
        "10,5,15,5,20,30,40,7,8,1,cudaLaunchKernel,1 1 1,1 1 1,k\n";
    const char *paths[] = { write_test_file("d.csv", device, sizeof(device) - 1),
                            write_test_file("l.csv", launches, sizeof(launches) - 1) };
    llmperf_profile *profile;

    (void)state;
    assert_int_equal(llmperf_import(paths, 2, NULL, &profile), 0);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    llmperf_profile_free(profile);
}

static void ranges_that_two_reports_list_count_once(void **state)
{
    static const char projected[] =
        "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),"
        "Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack\n"
        ":LLM@prefill,150,700,100,800,PushPop,5,6,2,0,0,7,,:7\n";
    const char *both[] = { write_test_file("r.csv", ranges, sizeof(ranges) - 1),
                           write_test_file("p.csv", projected, sizeof(projected) - 1) };
    llmperf_profile *profile;

    (void)state;
    assert_int_equal(llmperf_import(both + 1, 1, NULL, &profile), 0);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).instances, 1);
    llmperf_profile_free(profile);
    assert_int_equal(llmperf_import(both, 2, NULL, &profile), 0);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).instances, 1);
    assert_false(has_region(profile, "LLM@prefill/LLM@prefill"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_kernels_are_rows_without_regions),
        cmocka_unit_test(case_12_headers_of_2021_mean_the_same),
        cmocka_unit_test(units_stand_in_the_header),
        cmocka_unit_test(several_tables_come_on_one_output),
        cmocka_unit_test(traces_of_ranges_are_regions),
        cmocka_unit_test(case_11_traces_of_all_versions_join_to_one_profile),
        cmocka_unit_test(a_trace_without_calls_attributes_nothing),
        cmocka_unit_test(projections_are_metrics_and_walls),
        cmocka_unit_test(launches_with_their_kernels_are_a_timeline),
        cmocka_unit_test(tables_for_people_and_skipped_reports_are_refused),
        cmocka_unit_test(rows_of_the_device_that_cannot_be_are_counted_and_left_out),
        cmocka_unit_test(unified_memory_is_moved_by_copies_not_by_kernels),
        cmocka_unit_test(calls_that_were_cut_are_counted),
        cmocka_unit_test(kernels_that_two_reports_list_count_once),
        cmocka_unit_test(ranges_that_two_reports_list_count_once),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
