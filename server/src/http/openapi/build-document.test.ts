import { expect, test } from "vitest";
import { buildDocument } from "./build-document.ts";

const { paths } = buildDocument();

test.each([
  "/api/public/triggers/{token}",
  "/api/public/agents/{agent_id}/triggers/{trigger_id}/listen",
])("POST %s names every preset whose sender needs the status 200", (path) => {
  expect(JSON.stringify(paths[path]?.post)).toContain("presets `dropbox`, `linear` and `meta`");
});
