import { expect, test } from "vitest";
import type { HttpTool, Tool } from "../fields.ts";
import { functionsOf } from "./example-arguments.ts";
import { hasMissingSecret, hasNewSecret, withoutNewSecrets } from "./secrets.ts";
import { toolResolver } from "./tool-resolver.ts";
import {
  emptyOperation,
  emptyRow,
  emptyTool,
  type ToolValues,
  templatesOf,
  toolOf,
  valuesOfTool,
  withPlaceholders,
} from "./tool-values.ts";

const tool: HttpTool = {
  type: "http",
  name: "shop",
  description: "",
  allowed_hosts: ["api.example.com"],
  headers: { Authorization: { secret_id: "sec_1", secret_last4: "6789", prefix: "Bearer " } },
  query: { format: "short" },
  operations: [
    {
      name: "add_note",
      description: "Adds a note",
      method: "POST",
      url: "https://api.example.com/orders/{number}/notes",
      query: {},
      headers: {},
      parameters: {
        type: "object",
        properties: { number: { type: "string" } },
        required: ["number"],
      },
      body: {
        type: "object",
        properties: { text: { type: "string", default: "Paid" }, author: { const: "desk" } },
      },
      safe_to_repeat: false,
    },
  ],
  timeout_seconds: 30,
  max_response_bytes: 65_536,
  max_calls_per_run: 100,
};

async function errorsOf(values: ToolValues, others: readonly Tool[] = []) {
  const { errors } = await toolResolver(others)(values, undefined, {
    fields: {},
    shouldUseNativeValidation: false,
  });
  return JSON.parse(JSON.stringify(errors));
}
const error = (message: string) => ({ type: "schema", message });

test("a tool that is opened and kept is the same, with its stored secret", async () => {
  expect(toolOf(valuesOfTool(tool))).toEqual(tool);
  expect(await errorsOf(valuesOfTool(tool))).toEqual({});
});

test("the form has descriptions with the line breaks that a text area keeps", () => {
  const operations = tool.operations.map((each) => ({ ...each, description: "Adds\r\n\r\nNotes" }));
  expect(valuesOfTool({ ...tool, description: "One\rTwo", operations })).toMatchObject({
    description: "One\nTwo",
    operations: [{ description: "Adds\n\nNotes" }],
  });
});

test("a body that is sent as a form stays one", () => {
  const [operation] = tool.operations;
  const form = { ...tool, operations: [{ ...operation, body_type: "form" }] } as HttpTool;
  expect(toolOf(valuesOfTool(form))).toEqual(form);
});

test("a function that only reads sends no body, although the field keeps its text", async () => {
  const values = valuesOfTool(tool);
  const operations = values.operations.map((operation) => ({
    ...operation,
    method: "GET" as const,
  }));
  expect(toolOf({ ...values, operations }).operations[0]).not.toHaveProperty("body");
  expect(await errorsOf({ ...values, operations })).toEqual({});
});

test("without allowed hosts those of the URLs are allowed", () => {
  const operations = [
    { ...emptyOperation, url: "https://a.example:8443/x/{y}" },
    { ...emptyOperation, url: "http://b.example?q={q}" },
    { ...emptyOperation, url: "https://a.example:8443/z" },
  ];
  expect(toolOf({ ...emptyTool, operations }).allowed_hosts).toEqual([
    "a.example:8443",
    "b.example",
  ]);
});

test("a tool that is empty has an error at each field that must be filled in", async () => {
  const name = error("must be 1 to 64 characters a-z A-Z 0-9 _ - and start with a letter or _");
  expect(await errorsOf(emptyTool)).toEqual({
    name,
    allowedHosts: error("Add at least one."),
    operations: {
      0: {
        name,
        description: error("Fill this in."),
        url: error("must be an http or https URL without a fragment"),
      },
    },
  });
});

test("errors of headers, schemas and taken names are at their fields", async () => {
  const values = valuesOfTool(tool);
  const [operation = emptyOperation] = values.operations;
  const secret = { ...emptyRow, name: "X-Key", isSecret: true, value: "short" };
  expect(
    await errorsOf(
      {
        ...values,
        headers: [secret, { ...emptyRow, name: "x y", value: "a" }, secret],
        operations: [{ ...operation, body: "{", parameters: '{"type": "string"}' }],
      },
      [{ ...tool, headers: {}, query: {} }],
    ),
  ).toMatchObject({
    headers: {
      0: { value: { message: expect.stringContaining("8") } },
      1: { name: { type: "schema" } },
      2: { name: error("occurs twice") },
    },
    operations: { 0: { body: error("must be a JSON Schema, an object") } },
  });
  expect(await errorsOf(values, [tool])).toMatchObject({
    name: error("is taken: another tool or operation of this agent has this name"),
    operations: { 0: { name: { type: "schema" } } },
  });
});

test("errors of a stored secret are at its prefix and its name, since it has no other field", async () => {
  const values = valuesOfTool(tool);
  const [header = emptyRow] = values.headers;
  const [operation = emptyOperation] = values.operations;
  expect(await errorsOf({ ...values, headers: [{ ...header, prefix: "Clé " }] })).toEqual({
    headers: { 0: { prefix: error("must be printable ASCII") } },
  });
  const query = [{ ...header, name: "format" }];
  expect(await errorsOf({ ...values, operations: [{ ...operation, query }] })).toEqual({
    operations: { 0: { query: { 0: { name: error("is already set for the whole tool") } } } },
  });
});

test("placeholders are in the URL and in texts, not in secrets", () => {
  const row = { ...emptyRow, name: "key" };
  const secret = { ...row, isSecret: true, value: "{not-a-parameter}" };
  const url = "https://a.example/{id}";
  expect(
    templatesOf({ url, query: [{ ...row, value: "{page}" }, secret], headers: [secret] }),
  ).toEqual([url, "{page}"]);
});

test("placeholders that the schema lacks are added as required texts", () => {
  const added = withPlaceholders("", ["https://a.example/{id}/{{x}}", "{page}"]);
  expect(JSON.parse(added)).toEqual({
    type: "object",
    properties: { id: { type: "string" }, page: { type: "string" } },
    required: ["id", "page"],
  });
  expect(withPlaceholders(added, ["{id}"])).toBe(added);
});

test.each(["not JSON", '{"properties": null}', '{"required": 5}'])(
  "parameters that are no schema get no placeholders, and an error: %s",
  async (parameters) => {
    expect(withPlaceholders(parameters, ["{number}"])).toBe(parameters);
    const values = valuesOfTool(tool);
    const operations = values.operations.map((operation) => ({ ...operation, parameters }));
    expect(await errorsOf({ ...values, operations })).toEqual({
      operations: { 0: { parameters: { type: "schema", message: expect.anything() } } },
    });
  },
);

test("new secrets are found and left out of what is kept in the browser", () => {
  const withSecret = { ...tool, headers: { "X-Key": { secret: "shop-key-0123456789" } } };
  expect([hasNewSecret(tool), hasNewSecret(withSecret)]).toEqual([false, true]);
  expect(withoutNewSecrets(withSecret)).toMatchObject({ headers: { "X-Key": { secret: "" } } });
  expect(withoutNewSecrets(tool)).toEqual(tool);
});

test("a stored secret that is gone is missing until it is entered again", () => {
  const gone = { secret_id: "sec_1", secret_last4: null };
  const [operation] = tool.operations;
  const inOperation = {
    ...tool,
    operations: [{ ...operation, query: { key: gone } }],
  } as HttpTool;
  const entered = { ...tool, headers: { Authorization: { secret: "shop-key-0123456789" } } };
  const shared = { ...tool, headers: { Authorization: gone } };
  expect([shared, inOperation].map(hasMissingSecret)).toEqual([true, true]);
  const complete: Tool[] = [tool, entered, { type: "clock" }];
  expect(complete.map(hasMissingSecret)).toEqual([false, false, false]);
});

test("a tool is tried with arguments that its schemas suggest", () => {
  expect(functionsOf(tool)).toEqual([
    { name: "add_note", example: { number: "", body: { text: "Paid" } } },
  ]);
  expect(functionsOf({ type: "clock" })).toEqual([{ name: "clock", example: {} }]);
});
