import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readEventData, workspaceEventData } from "@beckon/contract";
import { z } from "zod";
import { schemaOfResponse } from "../server/src/http/openapi/json-schema.ts";
import { type OpenapiDocument, operationsOf, type Schema } from "./client/document.ts";
import { functionsOf } from "./client/operations.ts";
import { declarationsOf, typeName } from "./client/schemas.ts";

const checkout = resolve(import.meta.dirname, "..");

/**
 * Types of events that the client declares by hand, from the data of each event type. In the
 * document, `data` is an object with any fields: with a union of all event types, clients that are
 * generated for languages without unions would lose the fields of events.
 */
const typedEvents: Readonly<Record<string, string>> = {
  RunEvent: "JournalEvent",
  ListEventsAnswer: "WorkspaceEvent",
  GetEventAnswer: "WorkspaceEvent",
};

/** Returns the schema of an object with the `data` of each event type. It allows more fields. */
function eventDataOf(byType: z.ZodRawShape): Schema {
  const { properties, ...object } = schemaOfResponse(z.object(byType)) as {
    properties: Readonly<Record<string, Schema>>;
  };
  const open = Object.entries(properties).map(([type, data]) => [
    type,
    { ...data, additionalProperties: {} },
  ]);
  return { ...object, properties: Object.fromEntries(open) };
}

/**
 * Returns the text of each generated file of the client, by its path in the repository.
 * @param document By default `docs/openapi.json`.
 */
export async function generateClient(
  document: OpenapiDocument = documented(),
): Promise<Record<string, string>> {
  const { text: generic, schemas } = functionsOf(operationsOf(document));
  const text = generic.replaceAll(/\w+/g, (word) => typedEvents[word] ?? word);
  const components = Object.fromEntries(
    Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => [
      typeName(name),
      schema,
    ]),
  );
  const declared = { ...components, ...schemas };
  const used = Object.keys(declared).filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  const head =
    "Long because it is generated: `node script/client.ts` makes it from docs/openapi.json.";
  const eventData = {
    JournalEventData: eventDataOf(readEventData),
    WorkspaceEventData: eventDataOf(workspaceEventData),
  };
  return {
    "client/src/generated/event-data.ts": formatted(
      `/** Types of the data of events. Generated: \`node script/client.ts\` makes them from the contract. */\n\n${await declarationsOf(eventData)}\n`,
    ),
    "client/src/generated/schemas.ts": formatted(
      `/** Types of requests and responses. ${head} */\n\n${await declarationsOf(declared)}\n`,
    ),
    "client/src/generated/operations.ts": formatted(
      [
        `/** One function per operation of the API. ${head} */`,
        'import type { CallOptions, LabelOptions, OnceOptions } from "../options.ts";',
        'import type { Listing } from "../listing.ts";',
        'import type { Sender } from "../sender.ts";',
        'import type { JournalEvent, WorkspaceEvent } from "../watched-event.ts";',
        `import type { ${used.join(", ")} } from "./schemas.ts";`,
        "",
        text,
      ].join("\n"),
    ),
  };
}

function documented(): OpenapiDocument {
  return JSON.parse(readFileSync(join(checkout, "docs/openapi.json"), "utf8")) as OpenapiDocument;
}

/** Returns the text as `script/check` requires it: formatted and without unused imports. */
function formatted(text: string): string {
  const biome = join(checkout, "node_modules/.bin/biome");
  const { status, stdout, stderr } = spawnSync(
    biome,
    ["check", "--write", "--unsafe", "--stdin-file-path=client/src/generated/new.ts"],
    {
      cwd: checkout,
      input: text,
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`Biome cannot format the generated code:\n${stderr}`);
  return stdout;
}

/**
 * Usage: node script/client.ts. Writes the generated files of the client. Run it after every change
 * of docs/openapi.json or of events in the contract, and review the diff, because it changes the
 * published client.
 */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(await generateClient()))
    writeFileSync(join(checkout, path), text);
}
