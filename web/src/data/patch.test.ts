import { BeckonError } from "@beckon/client";
import { describe, expect, test } from "vitest";
import { savePatch } from "./patch.ts";

interface Fields {
  readonly name: string;
  readonly note: string;
}
type Stored = Fields & { readonly version: number };

const first: Stored = { version: 1, name: "First", note: "" };
const stale = () =>
  new BeckonError({ code: "precondition_failed", status: 412, message: "It was changed." });

/**
 * Saves the name "Mine" while someone else saves before each attempt.
 * @param theirs what the other person saves before the first attempt, the second one, and so on
 */
async function saveWhile(theirs: readonly Partial<Fields>[]) {
  let stored = first;
  const left = [...theirs];
  const sent: [Partial<Fields>, number | string][] = [];
  const state = await savePatch<Stored, Fields>(
    {
      read: async () => stored,
      write: async (changes, ifMatch) => {
        sent.push([changes, ifMatch]);
        const next = left.shift();
        if (next !== undefined) stored = { ...stored, ...next, version: stored.version + 1 };
        if (ifMatch !== stored.version) throw stale();
        stored = { ...stored, ...changes, version: stored.version + 1 };
        return stored;
      },
      onRead: () => {},
      onUnknown: () => {},
    },
    first,
    { name: "Mine" },
  );
  return { state, sent };
}

const notes = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ note: `${index}` }));

test("changes of other fields are merged three times", async () => {
  const { state, sent } = await saveWhile(notes(3));
  expect(state).toEqual({
    name: "saved",
    resource: { version: 5, name: "Mine", note: "2" },
  });
  expect(sent.map(([, ifMatch]) => ifMatch)).toEqual([1, 2, 3, 4]);
});

test("if the resource still changes after three merges, the person decides", async () => {
  const { state, sent } = await saveWhile(notes(9));
  expect(state).toEqual({
    name: "conflict",
    base: { version: 4, name: "First", note: "2" },
    theirs: { version: 5, name: "First", note: "3" },
    yours: { name: "Mine" },
  });
  expect(sent).toHaveLength(4);
});

test("a change of the same field is a conflict, also after merges, unless it is the same", async () => {
  const { state } = await saveWhile([...notes(3), { name: "Theirs" }]);
  expect(state).toMatchObject({ name: "conflict", theirs: { version: 5, name: "Theirs" } });
  const same = await saveWhile([...notes(3), { name: "Mine" }]);
  expect(same.state).toMatchObject({ name: "saved", resource: { version: 5 } });
});

describe("after a lost response", () => {
  const lost = new BeckonError({ code: "no_answer", status: 0, message: "It did not respond." });
  const saveAnd = (now: Stored, changes: Partial<Fields & { secret: string }>) =>
    savePatch<Stored, Fields & { secret: string }>(
      {
        read: async () => now,
        write: async () => Promise.reject(lost),
        onRead: () => {},
        onUnknown: () => {},
      },
      first,
      changes,
    );

  test("the resource says whether the changes are saved", async () => {
    const saved = { ...first, version: 2, name: "Mine" };
    expect(await saveAnd(saved, { name: "Mine" })).toEqual({ name: "saved", resource: saved });
    expect(await saveAnd(first, { name: "Mine" })).toEqual({ name: "not saved" });
  });

  test("a merge is written with the resource on which it is based", async () => {
    const theirs = { ...first, version: 2, name: "Mine" };
    const written: unknown[] = [];
    await savePatch<Stored, Fields & { secret: string }>(
      {
        read: async () => theirs,
        write: async (changes, ifMatch, base) => {
          written.push([changes, ifMatch, base]);
          if (ifMatch !== 2) throw stale();
          return theirs;
        },
        onRead: () => {},
        onUnknown: () => {},
      },
      first,
      { name: "Mine", secret: "new" },
    );
    expect(written).toEqual([
      [{ name: "Mine", secret: "new" }, 1, first],
      [{ secret: "new" }, 2, theirs],
    ]);
  });

  test("a secret, which is not returned, is not called unsaved if the version has changed", async () => {
    const now = { ...first, version: 2 };
    expect(await saveAnd(now, { secret: "new" })).toEqual({ name: "failed", thrown: lost });
    expect(await saveAnd(first, { secret: "new" })).toEqual({ name: "not saved" });
  });
});
