/* SPDX-License-Identifier: Apache-2.0 */
/** Style and script of report.html, made from the files in page/ by the build.
 * @threads any thread */
#ifndef LP_OUTPUT_HTML_PAGE_H
#define LP_OUTPUT_HTML_PAGE_H

extern const char lp_page_style[], lp_page_script[];

#endif
