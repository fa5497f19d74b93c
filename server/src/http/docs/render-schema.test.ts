import { expect, test } from "vitest";
import { renderFields } from "./render-schema.ts";

test("a field that adds fields to a resource names the resource, and then the added fields", () => {
  const data = {
    allOf: [
      { $ref: "#/components/schemas/Agent" },
      { type: "object", properties: { token: { type: "string" } } },
    ],
  };
  const html = renderFields(
    { type: "object", properties: { data } },
    (name) => `/docs/agents#${name}`,
  );
  expect(html).not.toContain("any JSON value");
  expect(html).toContain('<a href="/docs/agents#Agent">Agent</a> and object');
  expect(html).toContain("data.<wbr>token");
});
