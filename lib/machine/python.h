/* SPDX-License-Identifier: Apache-2.0 */
/** Versions of Python and of its packages in this process. Nothing is called in the interpreter:
 * its mapped files and the folders beside them are read.
 * @threads any thread */
#ifndef LP_MACHINE_PYTHON_H
#define LP_MACHINE_PYTHON_H

#include "lib/output/format/json_writer.h"

/** Member "python" of an object; null: the process has no Python interpreter. */
void lp_python_json(struct lp_json *json);

#endif
