# SPDX-License-Identifier: Apache-2.0
"""Profile LLM inference engines: regions, the kernels launched in them, and reports.

    import llmperf

    with llmperf.Session(tier="deep", out="runs") as session:
        with llmperf.prefill(tokens=512):
            logits = model(prompt)
    print(session.profile.report_markdown())

The package calls libllmperf.so through ctypes. Importing it works without the library. The first
call loads the library from the first of these places:

1. the path in LLMPERF_LIBRARY; if it is set, no other place is searched;
2. a copy that is already loaded in the process (`llmperf run`);
3. the folder of this package;
4. the lib folders of the prefix in which this package is installed;
5. the places of the dynamic loader (LD_LIBRARY_PATH, ldconfig), then ctypes.util.find_library().

If there is none, the call raises LibraryNotFoundError, a subclass of ImportError. available()
checks this without an exception.
"""
from ._checks import config_dir, doctor, validate, version
from ._compare import compare, compare_document
from ._errors import LibraryNotFoundError, LlmperfError
from ._library import available
from ._profile import Job, Profile, import_files, merge, open
from ._region import Region, count, decode_all, decode_step, prefill, region
from ._request import Request, request, requests_token
from ._schedule import Schedule, schedule
from ._session import Session
from ._trace import export_trace

__version__ = "0.1.0"

__all__ = [
    "Job",
    "LibraryNotFoundError",
    "LlmperfError",
    "Profile",
    "Region",
    "Request",
    "Schedule",
    "Session",
    "available",
    "compare",
    "compare_document",
    "config_dir",
    "count",
    "decode_all",
    "decode_step",
    "doctor",
    "export_trace",
    "import_files",
    "merge",
    "open",
    "prefill",
    "region",
    "request",
    "requests_token",
    "schedule",
    "validate",
    "version",
]
