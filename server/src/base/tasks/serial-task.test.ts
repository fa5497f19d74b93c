import { beforeEach, expect, test } from "vitest";
import { createSerialTask, type SerialTask } from "./index.ts";

/** The calls of the task that have begun. The test ends each of them. */
let calls: PromiseWithResolvers<unknown>[];
let begun: PromiseWithResolvers<void>;
let stopping: AbortController;
let task: SerialTask;
beforeEach(() => {
  calls = [];
  begun = Promise.withResolvers();
  stopping = new AbortController();
  task = createSerialTask(stopping.signal, () => {
    const call = Promise.withResolvers<unknown>();
    calls.push(call);
    begun.resolve();
    begun = Promise.withResolvers();
    return call.promise;
  });
});

/** Ends the last call that has begun. @param result true makes the task run again */
const end = (result?: boolean) => calls.at(-1)?.resolve(result);

test("several wakes in one turn of the event loop lead to one call", async () => {
  const { promise } = begun;
  task.wake();
  task.wake();
  await promise;
  end();
  await task.idle();
  expect(calls).toHaveLength(1);
});

test("a wake during a call leads to another call after it", async () => {
  const first = begun.promise;
  task.wake();
  await first;
  task.wake();
  expect(calls).toHaveLength(1);
  const second = begun.promise;
  end();
  await second;
  end();
  await task.idle();
  expect(calls).toHaveLength(2);
});

test("a call that returns true is repeated until it returns something else", async () => {
  for (const result of [true, true, undefined]) {
    const { promise } = begun;
    if (calls.length === 0) task.wake();
    await promise;
    end(result);
  }
  await task.idle();
  expect(calls).toHaveLength(3);
});

test("next waits for a call that begins later, not for the one in progress", async () => {
  const first = begun.promise;
  task.wake();
  await first;
  let hasEnded = false;
  const next = task.next().then(() => {
    hasEnded = true;
  });
  const second = begun.promise;
  end();
  await second;
  expect(hasEnded).toBe(false);
  end();
  await next;
  expect(calls).toHaveLength(2);
});

test("once the task is stopped, no call begins and next does not wait", async () => {
  stopping.abort();
  await task.next();
  await task.idle();
  expect(calls).toEqual([]);
});
