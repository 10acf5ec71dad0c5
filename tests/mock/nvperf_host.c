/* SPDX-License-Identifier: Apache-2.0 */
/* It only has to be there. */
extern int mock_nvperf_host;
int mock_nvperf_host;
