import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import {
  type Batcher,
  type BatcherOptions,
  boundedTurn,
  createBatcher,
  createMutex,
  SubmitTimeoutError,
} from "./batcher.ts";

afterEach(() => {
  vi.useRealTimers();
});

const failed = (code: string) => Object.assign(new Error(`failed with ${code}`), { code });
const lost = () => failed("ECONNRESET");
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Written {
  readonly batches: string[][];
  readonly batcher: Batcher<string, string>;
}

/** Creates a batcher of texts. The default `write` returns each text in upper case. */
function batchTexts(options: Partial<BatcherOptions<string, string>> = {}): Written {
  const batches: string[][] = [];
  const { write = async (rows) => rows.map((row) => row.toUpperCase()) } = options;
  const batcher = createBatcher<string, string>({
    order: (row) => row,
    bytes: (row) => row.length,
    maxRows: 200,
    maxBytes: 1_000_000,
    ...options,
    write: (rows, sent) => {
      batches.push([...rows]);
      return write(rows, sent);
    },
  });
  return { batches, batcher };
}

/**
 * Returns a `write` whose calls the test resolves or rejects. `call(index)` waits for the call with
 * this index.
 */
function heldWrite() {
  const calls: { rows: readonly string[]; respond: () => void; fail: (reason: unknown) => void }[] =
    [];
  const write = (rows: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      calls.push({
        rows,
        respond: () => resolve(rows.map((row) => row.toUpperCase())),
        fail: reject,
      });
    });
  const call = async (index: number) => {
    while (calls.length <= index) await turn();
    const found = calls[index];
    if (found === undefined) throw new Error("no such call");
    return found;
  };
  return { calls, write, call };
}

test("a single row is written at once, without a timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
  const { batches, batcher } = batchTexts();
  expect(await batcher.submit("a")).toBe("A");
  expect(batches).toEqual([["a"]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("rows of one turn of the event loop go into one batch", async () => {
  const { batches, batcher } = batchTexts();
  expect(await Promise.all(["a", "b", "c"].map((row) => batcher.submit(row)))).toEqual([
    "A",
    "B",
    "C",
  ]);
  expect(batches).toEqual([["a", "b", "c"]]);
});

test("rows that are submitted during a write go into the next batch", async () => {
  const { call, write } = heldWrite();
  const { batches, batcher } = batchTexts({ write });
  const first = batcher.submit("a");
  await call(0);
  const others = ["c", "b"].map((row) => batcher.submit(row));
  expect(batcher.pending).toBe(3);
  await turn();
  expect(batches).toEqual([["a"]]);
  (await call(0)).respond();
  expect(await first).toBe("A");
  (await call(1)).respond();
  expect(await Promise.all(others)).toEqual(["C", "B"]);
  expect(batches).toEqual([["a"], ["b", "c"]]);
  await turn();
  expect(batcher.pending).toBe(0);
});

test("a batch is sorted by order, and every caller gets the result of its own row", async () => {
  const { batches, batcher } = batchTexts({ order: (row) => [...row].reverse().join("") });
  const rows = ["1z", "2a", "3m", "4a"];
  expect(await Promise.all(rows.map((row) => batcher.submit(row)))).toEqual(
    rows.map((row) => row.toUpperCase()),
  );
  expect(batches).toEqual([["2a", "4a", "3m", "1z"]]);
});

test("a batch has at most maxRows rows, and the rest go into the next", async () => {
  const { batches, batcher } = batchTexts({ maxRows: 3 });
  await Promise.all(["a", "b", "c", "d", "e", "f", "g"].map((row) => batcher.submit(row)));
  expect(batches.map((rows) => rows.length)).toEqual([3, 3, 1]);
});

test("a batch has at most maxBytes bytes, and a larger row is written alone", async () => {
  const { batches, batcher } = batchTexts({ maxBytes: 10, order: () => "" });
  await Promise.all(
    ["aaaa", "bbbb", "cccc", "dddddddddddddddddddd", "eeee", "ffffff", "g"].map((row) =>
      batcher.submit(row),
    ),
  );
  expect(batches).toEqual([
    ["aaaa", "bbbb"],
    ["cccc"],
    ["dddddddddddddddddddd"],
    ["eeee", "ffffff"],
    ["g"],
  ]);
});

test("with one rejected, one duplicate and one malformed row of 100, every caller gets its own result", async () => {
  const stored = new Set(["row 50"]);
  const { batcher } = batchTexts({
    write: async (rows) => {
      if (rows.includes("row 7")) throw failed("22021");
      return rows.map((row) => {
        if (row === "row 23") return "rejected";
        if (stored.has(row)) return "duplicate";
        stored.add(row);
        return `written ${row}`;
      });
    },
  });
  const rows = Array.from({ length: 100 }, (_, index) => `row ${index}`);
  const results = await Promise.allSettled(rows.map((row) => batcher.submit(row)));
  for (const [index, result] of results.entries()) {
    if (index === 7)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "22021" } });
    else if (index === 23) expect(result).toEqual({ status: "fulfilled", value: "rejected" });
    else if (index === 50) expect(result).toEqual({ status: "fulfilled", value: "duplicate" });
    else expect(result).toEqual({ status: "fulfilled", value: `written row ${index}` });
  }
  expect(stored.size).toBe(98);
});

test("a write without a response is retried with the same rows until there is one", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let failures = 12;
  const { batches, batcher } = batchTexts({
    write: async (rows) => {
      if (failures-- > 0) throw lost();
      return rows.map((row) => row.toUpperCase());
    },
  });
  const results = Promise.all([batcher.submit("a"), batcher.submit("b")]);
  await turn();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await results).toEqual(["A", "B"]);
  expect(batches).toEqual(Array.from({ length: 13 }, () => ["a", "b"]));
});

test("a write is retried at once after a deadlock, and row by row after 20 of them", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { batches, batcher } = batchTexts({
    write: async (rows) => {
      if (rows.length > 1) throw failed("40P01");
      return rows.map((row) => row.toUpperCase());
    },
  });
  expect(await Promise.all([batcher.submit("a"), batcher.submit("b")])).toEqual(["A", "B"]);
  expect(batches.filter((rows) => rows.length === 2)).toHaveLength(21);
  expect(batches.slice(21)).toEqual([["a"], ["b"]]);
});

test("a row that has not been sent by its timeout is withdrawn", async () => {
  const { call, write } = heldWrite();
  const { batches, batcher } = batchTexts({ write });
  const first = batcher.submit("a");
  await call(0);
  const onLateResult = vi.fn();
  const second = batcher.submit("b", { waitMs: 5, onLateResult });
  await expect(second).rejects.toMatchObject({ name: "SubmitTimeoutError", sent: false });
  (await call(0)).respond();
  await first;
  expect(
    await Promise.all([batcher.submit("c"), call(1).then(({ respond }) => respond())]),
  ).toEqual(["C", undefined]);
  expect(batches).toEqual([["a"], ["c"]]);
  expect(onLateResult).not.toHaveBeenCalled();
});

test("rows that time out unsent are dropped while the database is still unavailable", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let isAvailable = false;
  const { batches, batcher } = batchTexts({
    write: async (rows) => {
      if (!isAvailable) throw lost();
      return rows.map((row) => row.toUpperCase());
    },
  });
  const first = batcher.submit("a");
  await turn();
  const others = Promise.allSettled(
    Array.from({ length: 1_000 }, (_, index) => batcher.submit(`row ${index}`, { waitMs: 5 })),
  );
  await vi.advanceTimersByTimeAsync(5);
  expect(new Set((await others).map((result) => result.status))).toEqual(new Set(["rejected"]));
  expect(batcher.pending).toBe(1);

  isAvailable = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await first).toBe("A");
  expect(new Set(batches.flat())).toEqual(new Set(["a"]));
});

test("a row that was sent before its timeout is still written, and onLateResult gets its result", async () => {
  const { call, write } = heldWrite();
  const { batches, batcher } = batchTexts({ write });
  const lateResult = Promise.withResolvers<string | undefined>();
  const row = batcher.submit("a", { waitMs: 250, onLateResult: lateResult.resolve });
  await expect(row).rejects.toEqual(new SubmitTimeoutError(true));
  (await call(0)).fail(lost());
  (await call(1)).respond();
  expect(await lateResult.promise).toBe("A");
  expect(batches).toEqual([["a"], ["a"]]);
});

test("onLateResult gets undefined if the row fails", async () => {
  const { call, write } = heldWrite();
  const { batcher } = batchTexts({ write });
  const lateResult = Promise.withResolvers<string | undefined>();
  await expect(
    batcher.submit("a", { waitMs: 250, onLateResult: lateResult.resolve }),
  ).rejects.toBeInstanceOf(SubmitTimeoutError);
  (await call(0)).fail(failed("22021"));
  expect(await lateResult.promise).toBeUndefined();
});

test("a result in time clears the timeout", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { batcher } = batchTexts();
  expect(await batcher.submit("a", { waitMs: 1_000 })).toBe("A");
  expect(vi.getTimerCount()).toBe(0);
});

test("a wrong number of results rejects every row", async () => {
  const { batcher } = batchTexts({ write: async () => [] });
  const results = await Promise.allSettled([batcher.submit("a"), batcher.submit("b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("a failed batch does not block later rows", async () => {
  const { batcher } = batchTexts({
    write: async (rows) => {
      if (rows.some((row) => row.startsWith("bad"))) throw failed("22021");
      return rows.map((row) => row.toUpperCase());
    },
  });
  await expect(batcher.submit("bad")).rejects.toThrow("22021");
  expect(await batcher.submit("good")).toBe("GOOD");
});

test("in any sequence of failures every row is written once and gets its own result", async () => {
  // Outcome of a write: success, connection lost before or after the commit, or rolled back.
  const fate = fc.constantFrom("well", "well", "lost before", "lost after", "undone");
  const plan = fc.record({
    fates: fc.array(fate, { maxLength: 8 }),
    sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ fates, sizes }) => {
      const left = [...fates];
      const stored = new Map<string, number>();
      const { batcher } = batchTexts({
        maxRows: 5,
        write: async (rows) => {
          await turn();
          const next = left.shift() ?? "well";
          if (next === "lost before") throw lost();
          if (next === "undone") throw failed("40P01");
          if (rows.some((row) => row.includes("bad"))) throw failed("22021");
          for (const row of rows) stored.set(row, stored.get(row) ?? stored.size);
          if (next === "lost after") throw lost();
          return rows.map((row) => `${row} at ${stored.get(row)}`);
        },
      });
      const rows = sizes.flatMap((size, group) =>
        Array.from({ length: size }, (_, index) => `${group}-${index}${index === 3 ? " bad" : ""}`),
      );
      const results = await Promise.allSettled(rows.map((row) => batcher.submit(row)));
      for (const [index, result] of results.entries()) {
        const row = rows[index] ?? "";
        if (row.includes("bad")) expect(result.status).toBe("rejected");
        else expect(result).toEqual({ status: "fulfilled", value: `${row} at ${stored.get(row)}` });
      }
      expect(stored.size).toBe(rows.filter((row) => !row.includes("bad")).length);
    }),
    { numRuns: 30 },
  );
});

test("the next batch is sent before the promises of the last one are resolved", async () => {
  const order: string[] = [];
  const { call, write } = heldWrite();
  const { batcher } = batchTexts({
    write: (rows) => {
      order.push(`sent ${rows}`);
      return write(rows);
    },
  });
  const first = batcher.submit("a").then(() => order.push("resolved a"));
  await call(0);
  const second = batcher.submit("b");
  (await call(0)).respond();
  await first;
  expect(order).toEqual(["sent a", "sent b", "resolved a"]);
  (await call(1)).respond();
  await second;
});

test("batchers with a mutex write in turns, and rows submitted meanwhile go into one batch", async () => {
  const mutex = createMutex();
  const one = heldWrite();
  const other = heldWrite();
  const starts = batchTexts({ write: one.write, mutex });
  const ends = batchTexts({ write: other.write, mutex });
  const first = starts.batcher.submit("a");
  await one.call(0);
  const more = ["b", "c"].map((row) => ends.batcher.submit(row));
  await turn();
  expect(ends.batches).toEqual([]);
  more.push(ends.batcher.submit("d"));
  (await one.call(0)).respond();
  (await other.call(0)).respond();
  expect(await Promise.all([first, ...more])).toEqual(["A", "B", "C", "D"]);
  expect(ends.batches).toEqual([["b", "c", "d"]]);
});

test("a batcher with a bounded turn does not wait longer for a batch that takes long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const mutex = createMutex();
  const stuck = heldWrite();
  const first = batchTexts({ write: stuck.write, mutex }).batcher.submit("a");
  const held = await stuck.call(0);
  const bounded = batchTexts({ mutex: boundedTurn(mutex, 200) });
  const second = bounded.batcher.submit("b");
  await vi.advanceTimersByTimeAsync(199);
  expect(bounded.batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await second).toBe("B");
  held.respond();
  expect(await first).toBe("A");
  // The mutex is free again and now calls the bounded batcher, which has already written "b" out of
  // turn. It must not write "b" again.
  expect(await bounded.batcher.submit("c")).toBe("C");
  expect(bounded.batches).toEqual([["b"], ["c"]]);
});

test("a batch that fails releases the mutex", async () => {
  const mutex = createMutex();
  const failing = batchTexts({
    mutex,
    write: async () => {
      throw failed("22021");
    },
  });
  const other = batchTexts({ mutex });
  const rejected = expect(failing.batcher.submit("a")).rejects.toThrow("22021");
  expect(await other.batcher.submit("b")).toBe("B");
  await rejected;
});

test("a write knows whether its rows may already be written", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const flags: boolean[] = [];
  const { batcher } = batchTexts({
    write: async (rows, { resent }) => {
      flags.push(resent);
      if (flags.length === 1) throw lost();
      if (rows.includes("bad")) throw failed("22021");
      return [...rows];
    },
  });
  const results = Promise.allSettled([batcher.submit("good"), batcher.submit("bad")]);
  await turn();
  await vi.advanceTimersByTimeAsync(60_000);
  await results;
  await batcher.submit("new");
  // The writes in order: the batch, whose connection is lost; its retry; then "good", "bad" and
  // "new", each alone. `resent` is false for the first and the last write, because their rows
  // were not sent before.
  expect(flags).toEqual([false, true, true, true, false]);
});
