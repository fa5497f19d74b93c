import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { FilledDashboard } from "./filled-dashboard.ts";
import { screens } from "./screens.ts";

const sources = resolve(import.meta.dirname, "../../web/src");
const read = (path: string) => readFileSync(resolve(sources, path), "utf8");

/** Modules with a route that are not screens: frames around screens, and a redirect. */
const notShownAlone = [
  "agents/frame/agent-frame.tsx",
  "agents/frame/agent-home.tsx",
  "agents/settings/settings-frame.tsx",
  "triggers/list/triggers-screen.tsx",
];

test("the table of screens has every screen that the dashboard has a route for", () => {
  const routed = [...read("routes.tsx").matchAll(/import\("\.\/([^"]+)"\)/g)];
  const known = new Set([...screens.map(({ module }) => module), ...notShownAlone]);
  expect(routed.map(([, path = ""]) => path).filter((path) => !known.has(path))).toEqual([]);
});

/** A filled dashboard for paths: each property is this object again, and as a text it is "x". */
const anything: object = new Proxy(
  {},
  { get: (_, key) => (key === Symbol.toPrimitive ? () => "x" : anything) },
);

test("the table of screens has every tab that has a URL", () => {
  const linked = globSync("**/*.{ts,tsx}", { cwd: sources }).flatMap((path) =>
    [...read(path).matchAll(/[?&]((?:tab|from)=[a-z]+)/g)].map(([, tab = ""]) => tab),
  );
  const [, ofRuns = ""] =
    /const tabs = \[(.*)\] as const/.exec(read("runs/run/run-search.ts")) ?? [];
  const tabs = new Set([...linked, ...[...ofRuns.matchAll(/\w+/g)].map(([tab]) => `tab=${tab}`)]);
  const shown = screens.map(({ path }) => path(anything as FilledDashboard)).join("\n");
  expect(tabs.size).toBeGreaterThan(6);
  expect([...tabs].filter((tab) => !shown.includes(tab))).toEqual([]);
});
