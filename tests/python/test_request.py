# SPDX-License-Identifier: Apache-2.0
"""Requests of a serving engine through the Python package."""
from __future__ import annotations

import asyncio
import json
import time
from typing import AsyncIterator, List

import support
import llmperf


class Request(support.TestCase):
    """From begin to the profile."""

    def test_a_block_is_a_request(self) -> None:
        with llmperf.Session(source="none", tier="regions") as session:
            arrived = time.monotonic_ns() - 7_000_000
            with llmperf.request(prompt_tokens=12, arrival_ns=arrived, id=4711) as request:
                request.first_token()
                request.token()
                request.token(3)
        found = session.profile.requests()
        self.assertEqual((found["requests"], found["finished"], found["prompt_tokens"],
                          found["output_tokens"]), (1, 1, 12, 5))
        self.assertIsNone(found["good"])
        self.assertEqual({name: row["count"] for name, row in found["latencies"].items()},
                         {"queue": 1, "ttft": 1, "tpot": 1, "itl": 2, "e2e": 1})
        self.assertGreaterEqual(found["latencies"]["queue"]["p50_ms"], 7)
        self.assertEqual({(row["slow_in"], row["id"], row["reason"]) for row in found["slowest"]},
                         {(name, 4711, "stop") for name in ("ttft", "tpot", "e2e")})
        self.assertEqual(sum(row["output_tokens"] for row in found["load"]), 5)

    def test_a_block_that_raises_has_failed_and_a_cancelled_one_was_aborted(self) -> None:
        async def serve() -> None:
            with llmperf.request():
                await asyncio.sleep(60)

        async def cancel() -> None:
            task = asyncio.ensure_future(serve())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        with llmperf.Session(source="none") as session:
            with self.assertRaises(KeyError):
                with llmperf.request():
                    raise KeyError
            asyncio.run(cancel())
        found = session.profile.requests()
        self.assertEqual((found["failed"], found["aborted"], found["finished"]), (1, 1, 0))

    def test_a_stream_reports_its_items_as_tokens(self) -> None:
        async def tokens(count: int) -> AsyncIterator[int]:
            for number in range(count):
                await asyncio.sleep(0)
                yield number

        async def serve() -> List[int]:
            async with llmperf.request() as request:
                return [number async for number in request.stream(tokens(4))]

        async def leave() -> None:
            async with llmperf.request() as request:
                async for _ in request.stream(tokens(4)):
                    raise KeyError

        with llmperf.Session(source="none") as session:
            with llmperf.request() as request:
                self.assertEqual(list(request.stream("abc")), ["a", "b", "c"])
            self.assertEqual(asyncio.run(serve()), [0, 1, 2, 3])
            with self.assertRaises(KeyError):
                asyncio.run(leave())
        found = session.profile.requests()
        assert found is not None
        self.assertEqual((found["finished"], found["failed"], found["output_tokens"]), (2, 1, 8))
        self.assertEqual(found["latencies"]["ttft"]["count"], 3)

    def test_a_batch_gets_a_token_each(self) -> None:
        with llmperf.Session(source="none", settings={"session.slo_ttft_ms": 60000}) as session:
            batch = [llmperf.request(prompt_tokens=1) for _ in range(5)]
            for _ in range(3):
                llmperf.requests_token(batch)
            llmperf.requests_token([])
            for request in batch:
                request.end("length", output_tokens=4)
                request.end("failed")
        found = session.profile.requests()
        self.assertEqual((found["finished"], found["failed"], found["stray_calls"]), (5, 0, 0))
        self.assertEqual((found["output_tokens"], found["good"]), (20, 5))
        self.assertEqual(found["latencies"]["itl"]["count"], 10)

    def test_without_a_session_nothing_is_recorded(self) -> None:
        request = llmperf.request(prompt_tokens=1)
        with llmperf.Session(source="none") as session:
            request.token()
            request.end()
        self.assertIsNone(session.profile.requests())
        self.assertIsNone(json.loads(session.profile.document("metrics.json"))["requests"])

    def test_wrong_values_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "reason 'done' is not one of"):
            llmperf.request().end("done")
        with self.assertRaisesRegex(ValueError, "prompt_tokens must be from 0"):
            llmperf.request(prompt_tokens=-1)


if __name__ == "__main__":
    support.need_library()
    support.main()
