import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBudget, type ByteHold, createTurns } from "./byte-budget.ts";

const never = new AbortController().signal;

/** Returns whether the promise has settled. */
async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  const pending = Symbol("pending");
  return (await Promise.race([promise, Promise.resolve().then(() => pending)])) !== pending;
}

describe("byte budget", () => {
  it("allows an owner three quarters and leaves a quarter to others", () => {
    const budget = new ByteBudget({ maxBytes: 1_000 });
    const greedy = budget.hold("greedy");
    expect(greedy.grow(750)).toBe(true);
    expect(greedy.grow(1)).toBe(false);
    expect(budget.hold("other").grow(250)).toBe(true);
    expect(budget.hold("third").grow(1)).toBe(false);
    greedy.release();
    expect(budget.usedBytes).toBe(250);
  });

  it("uses the entered bytes before it takes more, and releases what exceeds them", () => {
    const budget = new ByteBudget({ maxBytes: 1_000 });
    const hold = budget.hold("one");
    expect(hold.enter(100, never)).toBeUndefined();
    expect([hold.grow(80), budget.usedBytes]).toEqual([true, 100]);
    expect([hold.grow(50), budget.usedBytes]).toEqual([true, 130]);
    hold.shrink(120);
    expect([hold.heldBytes, budget.usedBytes]).toEqual([10, 100]);
    hold.release();
    hold.release();
    expect([hold.grow(1), budget.usedBytes]).toEqual([false, 0]);
  });

  it("serves owners round robin, and the holds of one owner first in, first out", async () => {
    const budget = new ByteBudget({ maxBytes: 100, shareMax: 1 });
    const full = budget.hold("full");
    full.grow(100);
    const order: string[] = [];
    for (const name of ["a1", "a2", "b1", "b2"]) {
      const hold = budget.hold(name.charAt(0));
      void hold.enter(10, never)?.then(() => order.push(name));
    }
    expect(budget.waitingOwners).toEqual(["a", "b"]);
    full.release();
    await isSettled(undefined);
    expect(order).toEqual(["a1", "b1", "a2", "b2"]);
    expect(budget.waitingOwners).toEqual([]);
  });

  it("lets waiting holds block only their own owner, and no new hold overtake them", async () => {
    const budget = new ByteBudget({ maxBytes: 1_000 });
    const greedy = budget.hold("greedy");
    greedy.grow(700);
    const large = budget.hold("greedy").enter(100, never);
    const small = budget.hold("greedy").enter(10, never);
    expect(budget.hold("other").enter(250, never)).toBeUndefined();
    expect([await isSettled(large), await isSettled(small)]).toEqual([false, false]);
    greedy.shrink(100);
    await Promise.all([large, small]);
  });

  it("rejects with the signal's reason and serves the next hold", async () => {
    const served: string[] = [];
    const budget = new ByteBudget({
      maxBytes: 100,
      shareMax: 1,
      onServed: (owner) => served.push(owner),
    });
    budget.hold("one").grow(60);
    const leaving = new AbortController();
    const large = budget.hold("one").enter(50, leaving.signal);
    const small = budget.hold("one").enter(40, never);
    leaving.abort(new Error("cancelled"));
    await expect(large).rejects.toThrow("cancelled");
    await small;
    expect(served).toEqual(["one"]);
    await expect(budget.hold("one").enter(50, leaving.signal)).rejects.toThrow("cancelled");
    expect(budget.waitingOwners).toEqual([]);
  });

  it("serves no hold while paused, and the waiting ones afterwards", async () => {
    const budget = new ByteBudget({ maxBytes: 100 });
    const hold = budget.hold("one");
    hold.grow(10);
    budget.paused = true;
    expect(hold.grow(1)).toBe(false);
    const waiting = budget.hold("two").enter(1, never);
    expect(await isSettled(waiting)).toBe(false);
    budget.paused = false;
    await waiting;
  });

  it("keeps a limited number of owners without holds", () => {
    const budget = new ByteBudget({ maxBytes: 100 });
    const kept = budget.hold("kept");
    kept.grow(75);
    for (let n = 0; n < 5_000; n++) budget.hold(`owner ${n}`).release();
    expect(budget.hold("kept").grow(1)).toBe(false);
  });

  it("never exceeds a limit, serves every hold and ends empty, in any order of calls", async () => {
    const maxBytes = 1_000;
    const size = fc.integer({ min: 0, max: 400 });
    const pick = fc.nat(30);
    const action = fc.oneof(
      fc.record({
        type: fc.constant("enter" as const),
        owner: fc.constantFrom("a", "b", "c"),
        bytes: size,
      }),
      fc.record({ type: fc.constantFrom("grow" as const, "shrink" as const), pick, bytes: size }),
      fc.record({ type: fc.constantFrom("release" as const, "abort" as const), pick }),
      fc.record({ type: fc.constant("pause" as const), paused: fc.boolean() }),
    );
    interface Model {
      readonly owner: string;
      readonly hold: ByteHold;
      readonly entered: number;
      readonly leaving: AbortController;
      state: "waiting" | "in" | "gone";
    }
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 80 }), async (actions) => {
        const budget = new ByteBudget({ maxBytes });
        const all: Model[] = [];
        let paused = false;
        const taken = (of: (model: Model) => boolean) =>
          all
            .filter((model) => model.state === "in" && of(model))
            .reduce((sum, { hold, entered }) => sum + Math.max(hold.heldBytes, entered), 0);
        const living = (n: number, state: Model["state"]) => {
          const some = all.filter((model) => model.state === state);
          return some[n % Math.max(1, some.length)];
        };
        const verify = () => {
          expect(budget.usedBytes).toBe(taken(() => true));
          expect(budget.usedBytes).toBeLessThanOrEqual(maxBytes);
          for (const owner of ["a", "b", "c"]) {
            const mine = taken((model) => model.owner === owner);
            expect(mine).toBeLessThanOrEqual(750);
            const first = all.find((model) => model.state === "waiting" && model.owner === owner);
            const fits =
              first !== undefined &&
              mine + first.entered <= 750 &&
              budget.usedBytes + first.entered <= maxBytes;
            expect(fits && !paused).toBe(false);
          }
        };
        for (const act of actions) {
          if (act.type === "enter") {
            const model: Model = {
              owner: act.owner,
              hold: budget.hold(act.owner),
              entered: act.bytes,
              leaving: new AbortController(),
              state: "in",
            };
            const waits = model.hold.enter(act.bytes, model.leaving.signal);
            if (waits !== undefined) model.state = "waiting";
            waits?.then(
              () => (model.state = "in"),
              () => (model.state = "gone"),
            );
            all.push(model);
          } else if (act.type === "grow") {
            const model = living(act.pick, "in");
            const mine = taken(({ owner }) => owner === model?.owner);
            const more =
              model === undefined
                ? 0
                : Math.max(
                    0,
                    model.hold.heldBytes +
                      act.bytes -
                      Math.max(model.hold.heldBytes, model.entered),
                  );
            const fits =
              more === 0 || (!paused && mine + more <= 750 && budget.usedBytes + more <= maxBytes);
            if (model !== undefined) expect(model.hold.grow(act.bytes)).toBe(fits);
          } else if (act.type === "shrink") {
            const hold = living(act.pick, "in")?.hold;
            hold?.shrink(Math.min(act.bytes, hold.heldBytes));
          } else if (act.type === "release") {
            const model = living(act.pick, "in");
            if (model !== undefined) model.state = "gone";
            model?.hold.release();
          } else if (act.type === "abort") {
            living(act.pick, "waiting")?.leaving.abort(new Error("left"));
          } else if (act.type === "pause") {
            paused = act.paused;
            budget.paused = act.paused;
          }
          await new Promise((resolve) => setImmediate(resolve));
          verify();
        }
        budget.paused = false;
        await new Promise((resolve) => setImmediate(resolve));
        for (
          let model = all.find(({ state }) => state === "in");
          model !== undefined;
          model = all.find(({ state }) => state === "in")
        ) {
          model.state = "gone";
          model.hold.release();
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(all.filter(({ state }) => state !== "gone")).toEqual([]);
        expect(budget.usedBytes).toBe(0);
      }),
    );
  });
});

describe("turns", () => {
  it("are few at a time, half of them for one owner, and end with their signal", async () => {
    const inTurn = createTurns({ max: 4, shareMax: 0.5 });
    const begun: string[] = [];
    const end = Promise.withResolvers<void>();
    const act = (owner: string, signal?: AbortSignal) =>
      inTurn(
        owner,
        () => {
          begun.push(owner);
          return end.promise;
        },
        signal,
      );
    const all = ["a", "a", "a", "b", "b", "b", "c"].map((owner) => act(owner));
    const aborting = new AbortController();
    const aborted = act("c", aborting.signal);
    aborting.abort(new Error("too late"));
    await expect(aborted).rejects.toThrow("too late");
    expect(begun).toEqual(["a", "a", "b", "b"]);
    end.resolve();
    await Promise.all(all);
    expect(begun.slice(4).sort()).toEqual(["a", "b", "c"]);
  });
});
