import { expect, test } from "vitest";
import { excludedIds, waitingScope } from "./waiting-scope.ts";

const scope = (waiting: Record<string, number>, maxRuns = 160) =>
  waitingScope(new Map(Object.entries(waiting)), maxRuns);

test("one workspace can use an eighth of the process for runs that wait, the next a sixteenth", () => {
  expect(scope({ a: 1 })).toEqual({ except: [], maxRuns: 19 });
  expect(scope({ a: 20 })).toBeUndefined();
  expect(scope({ a: 20, b: 1 })).toEqual({ except: ["a"], maxRuns: 9 });
  expect(scope({ a: 20, b: 10, c: 1 })).toEqual({ except: ["a", "b"], maxRuns: 4 });
});

test("a claim takes no more than the smallest share that is left", () => {
  expect(scope({ a: 12, b: 2 })).toEqual({ except: [], maxRuns: 7 });
});

test("a process of any size lets a run wait", () => {
  expect(scope({ a: 1 }, 1)).toBeUndefined();
  expect(scope({ a: 1 }, 16)).toEqual({ except: [], maxRuns: 1 });
  expect(scope({ a: 2 }, 16)).toBeUndefined();
});

test("agents at their ceilings are excluded, and their workspaces only above their share", () => {
  const excluded = (waiting: Record<string, number>) =>
    excludedIds(
      {
        waiting: () => new Map(Object.entries(waiting)),
        blocked: (workspaceId) => [`agent of ${workspaceId}`],
      },
      160,
    );
  expect(excluded({ a: 20 })).toEqual(["agent of a"]);
  expect(excluded({ a: 21 })).toEqual(["a"]);
  expect(excluded({ a: 21, b: 1 })).toEqual(["a", "agent of b"]);
});
