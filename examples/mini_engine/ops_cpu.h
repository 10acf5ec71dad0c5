/* SPDX-License-Identifier: Apache-2.0 */
/** The CPU's operations, in four files. */
#ifndef MINI_ENGINE_OPS_CPU_H
#define MINI_ENGINE_OPS_CPU_H

#include "ops.h"

void ops_cpu_add_attention(struct ops *ops);
void ops_cpu_add_vision(struct ops *ops);
void ops_cpu_add_group(struct ops *ops);

#endif
