/* SPDX-License-Identifier: Apache-2.0 */
/** Versions of Python and of its packages in this process. Nothing is called in the interpreter:
 * the names of mapped files and of the folders beside them are read.
 * @threads any thread */
#ifndef LP_MACHINE_SOFTWARE_H
#define LP_MACHINE_SOFTWARE_H

#include "lib/output/format/json_writer.h"

/** Member "software" of an object: versions by name; null: not loaded, or not known. */
void lp_software_json(struct lp_json *json);

#endif
