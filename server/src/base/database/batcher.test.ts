import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import {
  type Batcher,
  type BatcherOptions,
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
  readonly gatherer: Batcher<string, string>;
}

/** A gatherer of texts. Unless `write` is given, each is answered in capitals. */
function gatherTexts(options: Partial<BatcherOptions<string, string>> = {}): Written {
  const batches: string[][] = [];
  const { write = async (rows) => rows.map((row) => row.toUpperCase()) } = options;
  const gatherer = createBatcher<string, string>({
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
  return { batches, gatherer };
}

/** A `write` that waits for the test. */
function heldWrite() {
  const calls: { rows: readonly string[]; answer: () => void; fail: (reason: unknown) => void }[] =
    [];
  const write = (rows: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      calls.push({
        rows,
        answer: () => resolve(rows.map((row) => row.toUpperCase())),
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

test("a lone row goes at once, without a timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
  const { batches, gatherer } = gatherTexts();
  expect(await gatherer.submit("a")).toBe("A");
  expect(batches).toEqual([["a"]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("rows of one turn of the event loop go together", async () => {
  const { batches, gatherer } = gatherTexts();
  expect(await Promise.all(["a", "b", "c"].map((row) => gatherer.submit(row)))).toEqual([
    "A",
    "B",
    "C",
  ]);
  expect(batches).toEqual([["a", "b", "c"]]);
});

test("rows handed in while a write is under way wait and go together in the next one", async () => {
  const { call, write } = heldWrite();
  const { batches, gatherer } = gatherTexts({ write });
  const first = gatherer.submit("a");
  await call(0);
  const others = ["c", "b"].map((row) => gatherer.submit(row));
  expect(gatherer.pending).toBe(3);
  await turn();
  expect(batches).toEqual([["a"]]);
  (await call(0)).answer();
  expect(await first).toBe("A");
  (await call(1)).answer();
  expect(await Promise.all(others)).toEqual(["C", "B"]);
  expect(batches).toEqual([["a"], ["b", "c"]]);
  await turn();
  expect(gatherer.pending).toBe(0);
});

test("a batch is sorted by order, and every caller gets the answer to its own row", async () => {
  const { batches, gatherer } = gatherTexts({ order: (row) => [...row].reverse().join("") });
  const rows = ["1z", "2a", "3m", "4a"];
  expect(await Promise.all(rows.map((row) => gatherer.submit(row)))).toEqual(
    rows.map((row) => row.toUpperCase()),
  );
  expect(batches).toEqual([["2a", "4a", "3m", "1z"]]);
});

test("a batch holds as many rows as it may, and the rest go in the next", async () => {
  const { batches, gatherer } = gatherTexts({ maxRows: 3 });
  await Promise.all(["a", "b", "c", "d", "e", "f", "g"].map((row) => gatherer.submit(row)));
  expect(batches.map((rows) => rows.length)).toEqual([3, 3, 1]);
});

test("a batch holds as many bytes as it may, and a row that is larger by itself goes alone", async () => {
  const { batches, gatherer } = gatherTexts({ maxBytes: 10, order: () => "" });
  await Promise.all(
    ["aaaa", "bbbb", "cccc", "dddddddddddddddddddd", "eeee", "ffffff", "g"].map((row) =>
      gatherer.submit(row),
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

test("one refused, one duplicate and one malformed row in a batch of 100 leave the other 97 written and every caller with its own answer", async () => {
  const stored = new Set(["row 50"]);
  const { gatherer } = gatherTexts({
    write: async (rows) => {
      if (rows.includes("row 7")) throw failed("22021");
      return rows.map((row) => {
        if (row === "row 23") return "refused";
        if (stored.has(row)) return "duplicate";
        stored.add(row);
        return `written ${row}`;
      });
    },
  });
  const rows = Array.from({ length: 100 }, (_, index) => `row ${index}`);
  const answers = await Promise.allSettled(rows.map((row) => gatherer.submit(row)));
  for (const [index, answer] of answers.entries()) {
    if (index === 7)
      expect(answer).toMatchObject({ status: "rejected", reason: { code: "22021" } });
    else if (index === 23) expect(answer).toEqual({ status: "fulfilled", value: "refused" });
    else if (index === 50) expect(answer).toEqual({ status: "fulfilled", value: "duplicate" });
    else expect(answer).toEqual({ status: "fulfilled", value: `written row ${index}` });
  }
  expect(stored.size).toBe(98);
});

test("a write without an answer is sent again, the same rows, until there is one", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let failures = 12;
  const { batches, gatherer } = gatherTexts({
    write: async (rows) => {
      if (failures-- > 0) throw lost();
      return rows.map((row) => row.toUpperCase());
    },
  });
  const answers = Promise.all([gatherer.submit("a"), gatherer.submit("b")]);
  await turn();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await answers).toEqual(["A", "B"]);
  expect(batches).toEqual(Array.from({ length: 13 }, () => ["a", "b"]));
});

test("a write that was undone by a deadlock is sent again at once, and after 20 times row by row", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { batches, gatherer } = gatherTexts({
    write: async (rows) => {
      if (rows.length > 1) throw failed("40P01");
      return rows.map((row) => row.toUpperCase());
    },
  });
  expect(await Promise.all([gatherer.submit("a"), gatherer.submit("b")])).toEqual(["A", "B"]);
  expect(batches.filter((rows) => rows.length === 2)).toHaveLength(21);
  expect(batches.slice(21)).toEqual([["a"], ["b"]]);
});

test("a row that has not been sent when its caller gives up is withdrawn", async () => {
  const { call, write } = heldWrite();
  const { batches, gatherer } = gatherTexts({ write });
  const first = gatherer.submit("a");
  await call(0);
  const onLateResult = vi.fn();
  const second = gatherer.submit("b", { waitMs: 5, onLateResult });
  await expect(second).rejects.toMatchObject({ name: "SubmitTimeoutError", sent: false });
  (await call(0)).answer();
  await first;
  expect(await Promise.all([gatherer.submit("c"), call(1).then(({ answer }) => answer())])).toEqual(
    ["C", undefined],
  );
  expect(batches).toEqual([["a"], ["c"]]);
  expect(onLateResult).not.toHaveBeenCalled();
});

test("a row that was sent when its caller gives up is pursued, and late hears the answer", async () => {
  const { call, write } = heldWrite();
  const { batches, gatherer } = gatherTexts({ write });
  const heard = Promise.withResolvers<string | undefined>();
  const row = gatherer.submit("a", { waitMs: 250, onLateResult: heard.resolve });
  await expect(row).rejects.toEqual(new SubmitTimeoutError(true));
  (await call(0)).fail(lost());
  (await call(1)).answer();
  expect(await heard.promise).toBe("A");
  expect(batches).toEqual([["a"], ["a"]]);
});

test("late hears undefined when the row has failed", async () => {
  const { call, write } = heldWrite();
  const { gatherer } = gatherTexts({ write });
  const heard = Promise.withResolvers<string | undefined>();
  await expect(
    gatherer.submit("a", { waitMs: 250, onLateResult: heard.resolve }),
  ).rejects.toBeInstanceOf(SubmitTimeoutError);
  (await call(0)).fail(failed("22021"));
  expect(await heard.promise).toBeUndefined();
});

test("an answer in time ends the wait", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { gatherer } = gatherTexts();
  expect(await gatherer.submit("a", { waitMs: 1_000 })).toBe("A");
  expect(vi.getTimerCount()).toBe(0);
});

test("a write that gives another number of answers is a defect of each row, not an answer to the wrong one", async () => {
  const { gatherer } = gatherTexts({ write: async () => [] });
  const answers = await Promise.allSettled([gatherer.submit("a"), gatherer.submit("b")]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("a failed batch holds up nobody who comes after it", async () => {
  const { gatherer } = gatherTexts({
    write: async (rows) => {
      if (rows.some((row) => row.startsWith("bad"))) throw failed("22021");
      return rows.map((row) => row.toUpperCase());
    },
  });
  await expect(gatherer.submit("bad")).rejects.toThrow("22021");
  expect(await gatherer.submit("good")).toBe("GOOD");
});

test("whatever happens to the writes, every row is written once and every caller gets its own answer", async () => {
  // What becomes of a write: it succeeds, is lost before or after the commit, or is undone.
  const fate = fc.constantFrom("well", "well", "lost before", "lost after", "undone");
  const plan = fc.record({
    fates: fc.array(fate, { maxLength: 8 }),
    sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ fates, sizes }) => {
      const left = [...fates];
      const stored = new Map<string, number>();
      const { gatherer } = gatherTexts({
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
      const answers = await Promise.allSettled(rows.map((row) => gatherer.submit(row)));
      for (const [index, answer] of answers.entries()) {
        const row = rows[index] ?? "";
        if (row.includes("bad")) expect(answer.status).toBe("rejected");
        else expect(answer).toEqual({ status: "fulfilled", value: `${row} at ${stored.get(row)}` });
      }
      expect(stored.size).toBe(rows.filter((row) => !row.includes("bad")).length);
    }),
    { numRuns: 30 },
  );
});

test("the next batch goes out before the callers of the last one are told", async () => {
  const order: string[] = [];
  const { call, write } = heldWrite();
  const { gatherer } = gatherTexts({
    write: (rows) => {
      order.push(`sent ${rows}`);
      return write(rows);
    },
  });
  const first = gatherer.submit("a").then(() => order.push("told a"));
  await call(0);
  const second = gatherer.submit("b");
  (await call(0)).answer();
  await first;
  expect(order).toEqual(["sent a", "sent b", "told a"]);
  (await call(1)).answer();
  await second;
});

test("gatherers that take turns write one after the other, and rows that came meanwhile go together", async () => {
  const mutex = createMutex();
  const one = heldWrite();
  const other = heldWrite();
  const starts = gatherTexts({ write: one.write, mutex });
  const ends = gatherTexts({ write: other.write, mutex });
  const first = starts.gatherer.submit("a");
  await one.call(0);
  const more = ["b", "c"].map((row) => ends.gatherer.submit(row));
  await turn();
  expect(ends.batches).toEqual([]);
  more.push(ends.gatherer.submit("d"));
  (await one.call(0)).answer();
  (await other.call(0)).answer();
  expect(await Promise.all([first, ...more])).toEqual(["A", "B", "C", "D"]);
  expect(ends.batches).toEqual([["b", "c", "d"]]);
});

test("a batch that fails gives the turn on", async () => {
  const mutex = createMutex();
  const failing = gatherTexts({
    mutex,
    write: async () => {
      throw failed("22021");
    },
  });
  const other = gatherTexts({ mutex });
  const refused = expect(failing.gatherer.submit("a")).rejects.toThrow("22021");
  expect(await other.gatherer.submit("b")).toBe("B");
  await refused;
});

test("a write is told whether its rows may have been written before", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const told: boolean[] = [];
  const { gatherer } = gatherTexts({
    write: async (rows, { repeated }) => {
      told.push(repeated);
      if (told.length === 1) throw lost();
      if (rows.includes("bad")) throw failed("22021");
      return [...rows];
    },
  });
  const answers = Promise.allSettled([gatherer.submit("good"), gatherer.submit("bad")]);
  await turn();
  await vi.advanceTimersByTimeAsync(60_000);
  await answers;
  await gatherer.submit("new");
  // Lost, the same again, then one by one.
  expect(told).toEqual([false, true, true, true, false]);
});
