import { expect, test } from "vitest";
import type { z } from "zod";
import { agentsDocument } from "./agents-document.ts";
import { previewBody } from "./received-requests.ts";
import { createSubscriptionBody } from "./subscriptions.ts";
import { toolsBody } from "./tools.ts";

const many = <T>(length: number, item: T) => Array.from({ length }, () => item);
const numbers = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, n) => [`x${n}`, 0]));
const tools = many(64, { type: "http", operations: many(64, { headers: numbers(32) }) });

test.each<[string, z.ZodType, unknown]>([
  ["tools with headers that are numbers", toolsBody, tools],
  [
    "agents with such tools",
    agentsDocument,
    { beckon: 1, agents: many(500, { tools: tools.slice(0, 1) }) },
  ],
  [
    "triggers with addresses that are numbers",
    agentsDocument,
    {
      beckon: 1,
      agents: many(10, { triggers: many(500, { receiving: { allowed_addresses: many(100, 0) } }) }),
    },
  ],
  ["headers of a preview", previewBody, { request: { headers: numbers(100_000) } }],
  ["headers of a subscription", createSubscriptionBody, { headers: numbers(100_000) }],
])("%s: the number of issues has a limit", (_what, schema, body) => {
  expect(schema.safeParse(body).error?.issues.length).toBeLessThan(300);
});
