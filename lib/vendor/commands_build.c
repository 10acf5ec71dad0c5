/* SPDX-License-Identifier: Apache-2.0 */
/* Builds commands from a configuration and a request; each tool has its own file. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/vendor/commands.h"

#define NEWEST 999912u

/* "2025.3.2.474" is release 202503 */
static unsigned release_of(const char *version)
{
    unsigned year, number;

    return version && sscanf(version, "%4u.%2u", &year, &number) == 2 ? year * 100 + number
                                                                      : NEWEST;
}

static int check_request(const llmperf_config *config, const llmperf_tool_request *request,
                         llmperf_commands **commands_out)
{
    if (!config || !request || !commands_out ||
        request->struct_size < sizeof(llmperf_tool_request) || !request->folder ||
        !request->program || (request->argument_count && !request->arguments))
        return lp_error(LLMPERF_EINVAL,
                        "config, commands_out and a request with struct_size, tool, "
                        "folder and program are required");
    if (request->tool != LLMPERF_TOOL_NSYS && request->tool != LLMPERF_TOOL_NCU)
        return lp_error(LLMPERF_EINVAL, "tool %u does not exist; use LLMPERF_TOOL_NSYS or _NCU",
                        request->tool);
    return 0;
}

static int build(llmperf_commands *commands, const llmperf_config *config,
                 const llmperf_tool_request *request, const llmperf_profile *profile)
{
    int status = request->tool == LLMPERF_TOOL_NSYS
                     ? lp_nsys_commands(commands, config, request)
                     : lp_ncu_commands(commands, config, request, profile);

    return status == 0 && commands->failed ? lp_out_of_memory() : status;
}

int llmperf_commands_build(const llmperf_config *config, const llmperf_tool_request *request,
                           const llmperf_profile *profile, llmperf_commands **commands_out)
{
    llmperf_commands *commands;
    int status = check_request(config, request, commands_out);

    if (status < 0)
        return status;
    commands = calloc(1, sizeof(*commands));
    if (!commands)
        return lp_out_of_memory();
    commands->tool = request->tool;
    commands->version =
        request->version ? lp_commands_text(commands, "%s", request->version) : NULL;
    commands->release = release_of(request->version);
    status = build(commands, config, request, profile);
    if (status < 0)
        llmperf_commands_free(commands);
    else
        *commands_out = commands;
    return status;
}
