import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { screens } from "./screens.ts";

/** Modules with a route that are not screens: frames around screens, and a redirect. */
const notShownAlone = [
  "agents/frame/agent-frame.tsx",
  "agents/frame/agent-home.tsx",
  "agents/settings/settings-frame.tsx",
  "triggers/list/triggers-screen.tsx",
];

test("the table of screens has every screen that the dashboard has a route for", () => {
  const routes = readFileSync(new URL("../../web/src/routes.tsx", import.meta.url), "utf8");
  const routed = [...routes.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, path = ""]) => path);
  const known = new Set([...screens.map(({ module }) => module), ...notShownAlone]);
  expect(routed.filter((path) => !known.has(path))).toEqual([]);
});
