import { expect, test } from "vitest";
import { beginning } from "./position.ts";
import { nextLimit, type StoredEvent } from "./store.ts";

const event: StoredEvent = {
  ...beginning,
  id: "evt_1",
  workspaceId: "wsp_1",
  agentId: null,
  type: "agent.paused",
  version: 1,
  time: "2026-01-31T09:30:00.000Z",
  data: {},
  characters: 2,
};

test.each([
  { read: 17, hasMore: true, limit: 200, next: 34, of: "was cut by its size" },
  { read: 150, hasMore: true, limit: 200, next: 200, of: "was cut by its size late" },
  { read: 34, hasMore: true, limit: 34, next: 200, of: "was full" },
  { read: 20, hasMore: false, limit: 34, next: 200, of: "was the last" },
])("after a batch of $read of $limit events that $of, the limit is $next", (batch) => {
  const events = Array.from({ length: batch.read }, () => event);
  expect(nextLimit({ events, hasMore: batch.hasMore }, batch.limit, 200)).toBe(batch.next);
});
