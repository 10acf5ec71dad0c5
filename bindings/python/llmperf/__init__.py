# SPDX-License-Identifier: Apache-2.0
"""Profile LLM inference engines: regions, the kernels below them, and a report that can be checked.

    import llmperf

    with llmperf.Session(tier="deep", out="runs") as session:
        with llmperf.prefill(tokens=512):
            logits = model(prompt)
    print(session.profile.report_markdown())

The package calls libllmperf.so through ctypes. Importing it works without the library; the first
use looks for it, in this order:

1. LLMPERF_LIBRARY, the path of libllmperf.so; if set, nothing else is tried;
2. a copy that is in the process already (`llmperf run`);
3. beside this package;
4. the lib folders of the prefix that this package is installed in;
5. the dynamic loader's own places (LD_LIBRARY_PATH, ldconfig), then ctypes.util.find_library().

If that fails, the use raises LibraryNotFoundError, an ImportError; available() tells beforehand.
"""
from ._checks import config_dir, doctor, validate, version
from ._compare import compare
from ._errors import LibraryNotFoundError, LlmperfError
from ._library import available
from ._profile import Job, Profile, import_files, merge, open
from ._region import Region, count, decode_all, decode_step, prefill, region
from ._session import Session
from ._trace import export_trace

__version__ = "0.1.0"

__all__ = [
    "Job",
    "LibraryNotFoundError",
    "LlmperfError",
    "Profile",
    "Region",
    "Session",
    "available",
    "compare",
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
    "validate",
    "version",
]
