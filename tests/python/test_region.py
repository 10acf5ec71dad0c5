# SPDX-License-Identifier: Apache-2.0
"""Regions: nesting, exceptions, threads, decorators, amounts."""
from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, AsyncIterator, Dict, Generator, List

import support
import llmperf


class Marked(support.TestCase):
    """Each test marks regions in a session without a device and reads their rows."""

    def setUp(self) -> None:
        super().setUp()
        self.session = llmperf.Session(source="none").start()
        self.addCleanup(self.session.stop)

    def rows(self) -> Dict[str, Dict[str, Any]]:
        """Rows by path; also checks that all regions were closed."""
        profile = self.session.stop()
        self.assertEqual(profile.ledger()["regions_truncated"], 0)
        self.assertEqual(profile.ledger()["regions_unbalanced"], 0)
        return {row["path"]: row for row in profile.regions()}

    def instances(self) -> Dict[str, int]:
        return {path: row["instances"] for path, row in self.rows().items()}


class WithBlocks(Marked):
    """`with llmperf.region(...)`."""

    def test_nested_regions_form_paths(self) -> None:
        for _ in range(3):
            with llmperf.region("LLM@prefill"):
                with llmperf.region("attention"):
                    pass
                with llmperf.region("other@mlp"):
                    pass
        rows = self.rows()
        self.assertEqual({path: row["instances"] for path, row in rows.items()},
                         {"LLM@prefill": 3, "LLM@prefill/LLM@attention": 3,
                          "LLM@prefill/other@mlp": 3})
        mlp = rows["LLM@prefill/other@mlp"]
        self.assertEqual((mlp["label"], mlp["parent"], mlp["stage"], mlp["depth"], mlp["kind"]),
                         ("other@mlp", "LLM@prefill", "LLM@prefill", 1, "operator"))
        top = rows["LLM@prefill"]
        self.assertEqual((top["parent"], top["depth"], top["kind"]), (None, 0, "stage"))
        self.assertGreaterEqual(top["wall_sum_ms"], mlp["wall_sum_ms"])

    def test_an_exception_ends_its_regions_and_goes_on(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "inner"):
            with llmperf.region("outer"):
                with llmperf.region("inner", tokens=1):
                    raise RuntimeError("inner")
        with llmperf.region("after"):
            pass
        self.assertEqual(self.instances(),
                         {"LLM@outer": 1, "LLM@outer/LLM@inner": 1, "LLM@after": 1})

    def test_an_exception_ends_the_stages(self) -> None:
        for stage in (llmperf.prefill(1), llmperf.decode_all(1), llmperf.decode_step(1, 1)):
            with self.assertRaises(KeyboardInterrupt):
                with stage:
                    raise KeyboardInterrupt
        self.assertEqual(self.instances(),
                         {"LLM@prefill": 1, "LLM@decode_all": 1, "LLM@decode_step": 1})

    def test_one_region_object_may_be_nested_in_itself_and_used_again(self) -> None:
        again = llmperf.region("again")
        for _ in range(2):
            with again, again:
                pass
        self.assertEqual(self.instances(), {"LLM@again": 2, "LLM@again/LLM@again": 2})

    def test_threads_have_stacks_of_their_own(self) -> None:
        barrier = threading.Barrier(8)

        def work(number: int) -> None:
            with llmperf.region(f"thread{number}"):
                barrier.wait(30)
                for _ in range(100):
                    with llmperf.region("step"):
                        pass
                barrier.wait(30)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {f"LLM@thread{i}": 1 for i in range(8)}
        expected.update({f"LLM@thread{i}/LLM@step": 100 for i in range(8)})
        self.assertEqual(self.instances(), expected)

    def test_labels_of_every_kind_are_taken(self) -> None:
        for label in ("", "with space", "größe@層", "x" * 5000, b"bytes", "nul\0nul", "\ud800"):
            with llmperf.region(label):
                pass
        instances = self.instances()
        self.assertEqual(sum(instances.values()), 7)
        for path in ("LLM@(empty)", "LLM@with space", "größe@層", "LLM@bytes", "LLM@nul?nul",
                     "LLM@?"):
            self.assertEqual(instances.get(path), 1, path)

    def test_more_labels_than_are_remembered(self) -> None:
        for number in range(5000):
            with llmperf.region(f"label{number}"):
                pass
        self.assertEqual(sum(self.instances().values()), 5000)


class Decorated(Marked):
    """`@llmperf.region(...)`."""

    def test_functions_keep_their_face_and_result(self) -> None:
        @llmperf.region("mlp", tokens=2)
        def double(number: int) -> int:
            """Twice."""
            return 2 * number

        self.assertEqual([double(1), double(number=2)], [2, 4])
        self.assertEqual((double.__name__, double.__doc__), ("double", "Twice."))
        row = self.rows()["LLM@mlp"]
        self.assertEqual((row["instances"], row["tokens"]), (2, 4))

    def test_recursive_function(self) -> None:
        @llmperf.region("down")
        def down(number: int) -> None:
            if number:
                down(number - 1)

        down(2)
        self.assertEqual(self.instances(), {"LLM@down": 1, "LLM@down/LLM@down": 1,
                                            "LLM@down/LLM@down/LLM@down": 1})

    def test_methods_static_methods_and_properties(self) -> None:
        class Model:
            @llmperf.region("method")
            def method(self) -> int:
                return 1

            @staticmethod
            @llmperf.region("static")
            def static() -> int:
                return 2

            @property
            @llmperf.region("property")
            def value(self) -> int:
                return 3

        model = Model()
        self.assertEqual((model.method(), Model.static(), model.value), (1, 2, 3))
        self.assertEqual(self.instances(), {"LLM@method": 1, "LLM@static": 1, "LLM@property": 1})

    def test_generator_region_is_open_only_while_it_runs(self) -> None:
        @llmperf.region("made", tokens=7)
        def numbers() -> Generator[int, Any, str]:
            got = yield 1
            with llmperf.region("inside"):
                pass
            try:
                yield got
            except ValueError as error:
                yield str(error)
            return "end"

        self.assertTrue(inspect.isgeneratorfunction(numbers))
        made = numbers()
        seen: List[Any] = [next(made)]
        with llmperf.region("waiting"):
            pass
        seen += [made.send("sent"), made.throw(ValueError("thrown"))]
        with self.assertRaises(StopIteration) as stopped:
            next(made)
        self.assertEqual((seen, stopped.exception.value), ([1, "sent", "thrown"], "end"))
        rows = self.rows()
        self.assertEqual({path: row["instances"] for path, row in rows.items()},
                         {"LLM@made": 4, "LLM@made/LLM@inside": 1, "LLM@waiting": 1})
        self.assertEqual(rows["LLM@made"]["tokens"], 7)

    def test_closing_a_generator_runs_its_finally_inside_the_region(self) -> None:
        @llmperf.region("made")
        def numbers() -> Generator[int, None, None]:
            try:
                yield 1
            finally:
                with llmperf.region("tidy"):
                    pass

        made = numbers()
        next(made)
        made.close()
        self.assertEqual(self.instances(), {"LLM@made": 2, "LLM@made/LLM@tidy": 1})

    def test_delegation_to_a_decorated_generator(self) -> None:
        @llmperf.region("made")
        def numbers() -> Generator[int, None, str]:
            yield from (1, 2)
            return "end"

        def outer() -> Generator[Any, None, None]:
            yield (yield from numbers())

        self.assertEqual(list(outer()), [1, 2, "end"])
        self.assertEqual(self.instances(), {"LLM@made": 3})

    def test_what_cannot_be_decorated_is_refused(self) -> None:
        for other in (Marked, 3, classmethod(len)):
            with self.assertRaisesRegex(TypeError, "decorates functions"):
                llmperf.region("x")(other)


class Awaited(Marked):
    """`@llmperf.region(...)` on async functions: the region belongs to the task."""

    def test_regions_of_tasks_are_apart(self) -> None:
        async def work(name: str) -> str:
            for _ in range(3):
                with llmperf.region("work"):
                    pass
                await asyncio.sleep(0)  # the other task runs
            return name

        async def both() -> List[str]:
            tasks = [llmperf.region(name, tokens=5)(work)(name) for name in ("a", "b")]
            return await asyncio.gather(*tasks)

        self.assertEqual(asyncio.run(both()), ["a", "b"])
        rows = self.rows()
        self.assertEqual({path: row["instances"] for path, row in rows.items()},
                         {"LLM@a": 4, "LLM@b": 4, "LLM@a/LLM@work": 3, "LLM@b/LLM@work": 3})
        self.assertEqual((rows["LLM@a"]["tokens"], rows["LLM@b"]["tokens"]), (5, 5))

    def test_functions_that_await_each_other_are_nested(self) -> None:
        @llmperf.region("inner")
        async def inner() -> int:
            await asyncio.sleep(0)
            return 7

        @llmperf.region("outer")
        async def outer() -> int:
            return await inner()

        self.assertTrue(inspect.iscoroutinefunction(outer))
        self.assertEqual(asyncio.run(outer()), 7)
        self.assertEqual(self.instances(), {"LLM@outer": 2, "LLM@outer/LLM@inner": 2})

    def test_an_exception_and_a_cancellation_reach_the_function(self) -> None:
        seen: List[str] = []

        @llmperf.region("serve")
        async def serve() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                with llmperf.region("tidy"):
                    seen.append("cancelled")
                raise ValueError("after it") from None

        async def cancel() -> None:
            task = asyncio.ensure_future(serve())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaisesRegex(ValueError, "after it"):
                await task

        asyncio.run(cancel())
        self.assertEqual(seen, ["cancelled"])
        self.assertEqual(self.instances(), {"LLM@serve": 2, "LLM@serve/LLM@tidy": 1})

    def test_an_asynchronous_generator_keeps_its_region_between_items(self) -> None:
        @llmperf.region("tokens", tokens=9)
        async def tokens() -> AsyncIterator[Any]:
            try:
                got = yield 1
                await asyncio.sleep(0)
                yield got
                yield 3
            except ValueError as error:
                yield str(error)
            finally:
                with llmperf.region("tidy"):
                    pass

        async def read() -> List[Any]:
            stream = tokens()
            seen = [await stream.__anext__(), await stream.asend("sent")]
            with llmperf.region("between"):
                pass
            seen += [await stream.athrow(ValueError("thrown"))]
            seen += [item async for item in stream]
            closed = tokens()
            seen += [await closed.__anext__()]
            await closed.aclose()
            return seen

        self.assertTrue(inspect.isasyncgenfunction(tokens))
        self.assertEqual(asyncio.run(read()), [1, "sent", "thrown", 1])
        rows = self.rows()
        self.assertEqual({path: row["instances"] for path, row in rows.items()},
                         {"LLM@tokens": 7, "LLM@tokens/LLM@tidy": 2, "LLM@between": 1})
        self.assertEqual(rows["LLM@tokens"]["tokens"], 18)


class Amounts(Marked):
    """What is counted in a region."""

    def test_amounts_and_counts_add_up(self) -> None:
        for _ in range(2):
            with llmperf.region("x", tokens=1, sequences=2, context=3, flops=4, bytes=2**63 - 1,
                                kind="stage"):
                llmperf.count(tokens=10, sequences=20, context=30, flops=40)
        row = self.rows()["LLM@x"]
        self.assertEqual(
            [row[name] for name in ("tokens", "sequences", "context", "flops", "bytes", "kind")],
            [22, 44, 66, 88, 2**64 - 2, "stage"])

    def test_what_was_not_given_is_none(self) -> None:
        with llmperf.region("x", tokens=None):
            llmperf.count()
        row = self.rows()["LLM@x"]
        for name in ("tokens", "sequences", "context", "flops", "bytes", "gpu_busy_ms", "device"):
            self.assertIsNone(row[name], name)

    def test_counting_outside_of_regions_is_ignored(self) -> None:
        llmperf.count(tokens=5)
        with llmperf.region("x"):
            pass
        self.assertIsNone(self.rows()["LLM@x"]["tokens"])

    def test_stages_count_their_tokens(self) -> None:
        with llmperf.prefill(tokens=512):
            pass
        with llmperf.decode_all() as loop:
            for step in range(4):
                with llmperf.decode_step(sequences=3, context=3 * (512 + step)):
                    pass
            loop.tokens = 12
        rows = self.rows()
        step_row = rows["LLM@decode_all/LLM@decode_step"]
        self.assertEqual(rows["LLM@prefill"]["tokens"], 512)
        self.assertEqual(rows["LLM@decode_all"]["tokens"], 12)
        self.assertEqual((step_row["instances"], step_row["tokens"], step_row["sequences"],
                          step_row["context"]), (4, 12, 12, 3 * (4 * 512 + 6)))
        self.assertEqual({row["kind"] for row in rows.values()}, {"stage"})

    def test_amounts_that_do_not_fit_are_refused(self) -> None:
        for value in (-1, 2**64):
            with self.assertRaisesRegex(ValueError, "tokens must be from 0 to"):
                llmperf.region("x", tokens=value)
            with self.assertRaisesRegex(ValueError, "bytes must be from 0 to"):
                llmperf.count(bytes=value)
        for make in (lambda: llmperf.region("x", flops=1.5), lambda: llmperf.prefill("7"),
                     lambda: llmperf.decode_step(1, 2.0), lambda: llmperf.decode_all(1.0)):
            with self.assertRaisesRegex(TypeError, "must be an integer"):
                make()

    def test_a_wrong_amount_at_the_end_of_decode_all_still_ends_it(self) -> None:
        with self.assertRaises(ValueError):
            with llmperf.decode_all() as loop:
                loop.tokens = -1
        self.assertEqual(self.instances(), {"LLM@decode_all": 1})

    def test_wrong_kinds_and_labels_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "'stages' is not one of auto, stage, operator"):
            llmperf.region("x", kind="stages")
        for label in (None, 3):
            with self.assertRaisesRegex(TypeError, "a label is a str or bytes"):
                llmperf.region(label)


class WithoutSession(support.TestCase):
    """Regions that no session sees."""

    def test_regions_need_no_session(self) -> None:
        with llmperf.region("x", tokens=1), llmperf.prefill(1):
            llmperf.count(tokens=1)

    def test_a_session_may_start_and_stop_inside_a_region(self) -> None:
        with llmperf.region("around"):
            session = llmperf.Session(source="none").start()
            with llmperf.region("inside"):
                pass
            profile = session.stop()
        rows = {row["path"]: row for row in profile.regions()}
        self.assertEqual(rows["LLM@around/LLM@inside"]["instances"], 1)
        self.assertEqual(profile.ledger()["regions_truncated"], 1)


if __name__ == "__main__":
    support.need_library()
    support.main()
