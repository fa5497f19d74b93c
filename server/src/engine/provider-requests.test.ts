import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ModelSettings } from "@beckon/contract";
import { afterAll, expect, it } from "vitest";
import { play, productionFetch, tool } from "../../test/engine-run.ts";
import { type ModelRequest, says, startModelServer } from "../../test/model-server.ts";
import type { RequestTypes } from "../../test/wire/request-types.ts";
import { providerModel } from "./models/provider-model.ts";

const server = await startModelServer();
const folder = await mkdtemp(join(tmpdir(), "beckon-requests-"));
afterAll(() => Promise.all([server.close(), rm(folder, { recursive: true })]));

type Kind = keyof RequestTypes;
const models: readonly (readonly [Kind, readonly string[]])[] = [
  ["openai", ["gpt-5", "gpt-4.1", "o4-mini", "a-name-nobody-knows"]],
  ["openai-chat", ["gpt-5", "gpt-4.1", "o4-mini", "a-name-nobody-knows"]],
  ["anthropic", ["claude-sonnet-4-5", "claude-opus-4-6", "a-name-nobody-knows"]],
  ["google", ["gemini-3-pro-preview", "gemini-2.5-flash", "a-name-nobody-knows"]],
];
const settings: readonly Partial<ModelSettings>[] = [
  {},
  { stream: "always" },
  { temperature: 0.7, max_output_tokens: 4_000 },
  ...(["none", "minimal", "low", "medium", "high", "xhigh"] as const).map((reasoning_effort) => ({
    reasoning_effort,
    max_output_tokens: 30_000,
  })),
];
const lookUp = tool("look_up", {
  parameters: {
    type: "object",
    properties: {
      colour: { type: "string", enum: ["red", "blue"] },
      shades: { type: "array", items: { type: "integer" } },
    },
    required: ["colour"],
    additionalProperties: false,
  },
  run: async () => ({ shade: "navy" }),
});
const idle = tool("idle", {
  parameters: { type: "object", properties: {} },
  run: async () => "done",
});

/** Makes conversations that use every part of the format and returns all their requests. */
async function requestsTo(kind: Kind, modelId: string): Promise<readonly ModelRequest[]> {
  server.reset();
  for (const each of settings) {
    server.script([
      says({
        reasoning: "I must look it up.",
        signature: "cHJvb2Y=",
        text: "One moment.",
        calls: [
          { id: "call_1", name: "look_up", arguments: '{"colour":"blue"}' },
          { id: "call_2", name: "idle", arguments: "" },
          { id: "call_3", name: "look_up", arguments: '["no", "object"' },
        ],
      }),
      says("It is navy."),
    ]);
    const { outcome } = await play(server.url, {
      model: providerModel(kind, {
        name: "p",
        baseUrl: server.url,
        apiKey: "key",
        modelId,
        transport: productionFetch,
      }),
      settings: { stream: "never", ...each },
      instructions: "Be brief.",
      tools: [lookUp, idle],
    });
    expect(outcome?.status, `${kind} ${modelId} ${JSON.stringify(each)}`).toBe("succeeded");
  }
  return [...server.requests];
}

/**
 * Returns one request as a TypeScript assignment to the type that the vendor's own package has for
 * it. In two cases the request intentionally differs from the type and is adapted to it:
 * Anthropic's package no longer has `temperature`, which its API accepts for older models; Google's
 * package spells thinking levels in capitals, and its API accepts both.
 */
function statement(kind: Kind, { path, body }: ModelRequest, name: string): string {
  return `export const ${name}: RequestTypes["${kind}"] = ${JSON.stringify(asItsPackageTakesIt(kind, path, body))};`;
}

function asItsPackageTakesIt(kind: Kind, path: string, body: ModelRequest["body"]): unknown {
  if (kind === "anthropic") return { ...body, temperature: undefined };
  if (kind !== "google") return body;
  // The package expects the API's fields in another structure: the model, which the API has in the
  // URL, is a field, and all fields except the contents are in `config`.
  const { contents, generationConfig, ...rest } = body as unknown as Record<string, object>;
  const text = JSON.stringify({ model: path, contents, config: { ...rest, ...generationConfig } });
  return JSON.parse(text, (member, value) =>
    member === "thinkingLevel" ? String(value).toUpperCase() : value,
  );
}

/**
 * Returns the type errors of a file in which each request is assigned to its type. Excess
 * properties are errors too.
 */
async function complaintsAbout(statements: readonly string[]): Promise<string> {
  const root = resolve(import.meta.dirname, "../../..");
  await symlink(join(root, "node_modules"), join(folder, "node_modules")).catch(() => undefined);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
    skipLibCheck: true,
    types: ["node"],
    allowImportingTsExtensions: true,
  };
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["requests.ts"] }),
  );
  // The import belongs to the generated file. Its text is joined from parts, so that tools that
  // search this file for imports do not find it.
  const types = [
    "import type",
    "{ RequestTypes }",
    "from",
    JSON.stringify(join(root, "server/test/wire/request-types.ts")),
  ].join(" ");
  await writeFile(join(folder, "requests.ts"), [types, ...statements].join("\n"));
  const tsc = join(root, "node_modules/.bin/tsc");
  return promisify(execFile)(process.execPath, [tsc, "-p", folder]).then(
    () => "",
    (failed: { stdout: string }) => failed.stdout,
  );
}

it("sends what the providers' own packages would", async () => {
  const statements: string[] = [];
  for (const [kind, modelIds] of models) {
    for (const modelId of modelIds) {
      const requests = await requestsTo(kind, modelId);
      expect(requests).toHaveLength(settings.length * 2);
      statements.push(
        ...requests.map((request, index) =>
          statement(kind, request, `request_${statements.length + index}`),
        ),
      );
    }
  }
  expect(await complaintsAbout(statements)).toBe("");
});

it("detects a field that is missing, unknown or of another type", async () => {
  const [request] = await requestsTo("anthropic", "claude-sonnet-4-5");
  const [other] = await requestsTo("google", "gemini-2.5-flash");
  if (request === undefined || other === undefined) throw new Error("nothing was sent");
  const { max_tokens, ...lacking } = request.body;
  const bodies = [
    lacking,
    { ...request.body, max_output_tokens: 5 },
    { ...request.body, messages: [{ role: "user", content: 7 }] },
  ];
  const complaints = await complaintsAbout([
    ...bodies.map((body, index) =>
      statement("anthropic", { ...request, body: body as typeof request.body }, `wrong_${index}`),
    ),
    statement(
      "google",
      {
        ...other,
        body: { ...other.body, generationConfig: { maxTokens: max_tokens } } as typeof other.body,
      },
      "wrong_3",
    ),
  ]);
  for (const index of [0, 1, 2, 3]) expect(complaints).toContain(`requests.ts(${index + 2},`);
});
