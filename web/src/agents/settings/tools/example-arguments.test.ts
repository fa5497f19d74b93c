import { expect, test } from "vitest";
import type { HttpTool } from "../fields.ts";
import { functionsOf } from "./example-arguments.ts";

type Operation = HttpTool["operations"][number];

const exampleFor = (schemas: Pick<Operation, "parameters" | "body">) => {
  const operation: Operation = {
    name: "read",
    description: "Reads",
    method: "POST",
    url: "https://a.example",
    ...schemas,
  };
  const tool: HttpTool = {
    type: "http",
    name: "shop",
    allowed_hosts: ["a.example"],
    operations: [operation],
  };
  return functionsOf(tool)[0]?.example;
};

const fixed = { const: "v" };
const text = { type: "string" } as const;
const object = (properties: Readonly<Record<string, object>>) =>
  ({ type: "object", properties }) as const;

test.each([
  ["is constant", fixed],
  ["has constants only", object({ ref: fixed, meta: object({ v: fixed }) })],
])("a body that %s is not an argument", (_what, body) => {
  expect(exampleFor({ parameters: object({ id: text }), body })).toEqual({ id: "" });
});

test("constants in a body, and objects of constants only, are left out", () => {
  const open = { ...object({ v: fixed }), additionalProperties: true };
  const body = object({ text, ref: fixed, meta: object({ v: fixed }), open });
  expect(exampleFor({ body })).toEqual({ body: { text: "", open: {} } });
});

test("constants that the model sends are filled in: parameters, and those in an alternative", () => {
  const parameters = object({ version: { const: 2 } });
  const body = { anyOf: [object({ kind: fixed, text }), { type: "null" as const }] };
  expect(exampleFor({ parameters, body })).toEqual({ version: 2, body: { kind: "v", text: "" } });
});
