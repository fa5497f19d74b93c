import { expect, test } from "vitest";
import { bulkBodyOf } from "./bulk-body.ts";

const now = Date.UTC(2026, 10, 3, 12);

test("a bulk operation selects what the list shows, as far as it applies", () => {
  expect(bulkBodyOf({ status: "running,failed", source: "invoke" }, "delete", now)).toEqual({
    filter: { status: ["failed"], source: ["invoke"] },
  });
  expect(bulkBodyOf({ agent_id: "agt_1", created_after: "1h" }, "cancel", now)).toEqual({
    filter: { agent_id: "agt_1", created_after: "2026-11-03T11:00:00.000Z" },
  });
  expect(bulkBodyOf({}, "delete", now)).toEqual({ all: true });
});

test("a bulk operation never selects more than the list shows", () => {
  expect(bulkBodyOf({ text: "4711" }, "delete", now)).toHaveProperty("reason");
  expect(bulkBodyOf({ status: "succeeded" }, "cancel", now)).toHaveProperty("reason");
  expect(bulkBodyOf({ status: "running" }, "delete", now)).toHaveProperty("reason");
});
