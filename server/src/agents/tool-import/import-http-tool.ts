import { httpToolBody, type ImportedHttpTool, importHttpToolBody } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { ApiError } from "../../base/errors.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { shorten } from "../../base/shorten.ts";
import {
  type FoundOperation,
  findOperations,
  type Imported,
  importOperation,
} from "./operation.ts";
import { listAt, nodeAt, type OpenapiNode, readDocument, textAt } from "./read-document.ts";
import { createReferenceResolver, UnsupportedError } from "./references.ts";
import { createNamer } from "./to-names.ts";

/** Maximum number of operations in a tool. */
const maxOperations = 64;
const maxWarnings = 200;
/** Maximum number of operations that the response lists, and of the characters of their paths. */
const maxListed = 2_000;
const maxListedCharacters = 2_000;

/**
 * Converts an OpenAPI document to an `http` tool and returns the tool, without storing it and
 * without sending requests. The client reviews the tool, fills in secrets and adds it to an agent.
 * Parts of the document that tools do not support are left out with a warning.
 *
 * @throws ApiError `forbidden`; `bad_request` if the document is invalid, lacks a requested
 *   operation, or has no operation that can be imported.
 */
export async function importHttpTool({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<ImportedHttpTool> {
  permit(ctx, "agents:write");
  const body = parseBody(importHttpToolBody, input.body);
  const document = createReferenceResolver(
    withServer(await readDocument(body.document, ctx.workspaceId), body.server),
  );
  const warnings = new Set<string>();
  const warn = (message: string) =>
    void (warnings.size < maxWarnings && warnings.add(message.slice(0, 500)));
  const nameFor = createNamer();
  const found = findOperations(document, warn);
  const operations = selectOperations(found, body.operations, warn).flatMap((each) => {
    try {
      const imported = importOperation(document, each, (message) =>
        warn(`${each.id}: ${message}.`),
      );
      const { credentials, ...operation } = { name: nameFor(each.id, "operation"), ...imported };
      requireValid(operation);
      return [{ found: each, operation, credentials }];
    } catch (thrown) {
      if (!(thrown instanceof UnsupportedError)) throw thrown;
      warn(`${each.id} is left out: ${thrown.message}.`);
      return [];
    }
  });
  if (operations.length === 0)
    throw new ApiError(
      "bad_request",
      `No operation of the document can be imported. ${[...warnings].slice(0, 5).join(" ")}`,
    );

  const first: string[] = [];
  const info = nodeAt(document.root, "info");
  const tool = {
    type: "http",
    name: createNamer()(textAt(info, "title") ?? "", "api"),
    description: shorten(textAt(info, "description") ?? textAt(info, "title") ?? "", 1_000),
    allowed_hosts: [...new Set(operations.map(({ operation }) => hostOf(operation.url)))],
    ...withCredentials(operations, (message) => {
      // First, because it must be read even if there are more warnings than the maximum.
      first.push(shorten(message, 500));
    }),
  };
  const names = new Map(operations.map((each) => [each.found, each.operation.name]));
  return {
    tool,
    warnings: [...first, ...warnings],
    operations: found.slice(0, maxListed).map((each) => ({
      id: each.id,
      method: each.method,
      path: each.path.slice(0, maxListedCharacters),
      name: names.get(each) ?? null,
    })),
  };
}

/**
 * Returns the document with the given server after its own ones. The first absolute one of them is
 * used.
 */
function withServer(document: OpenapiNode, server: string | undefined): OpenapiNode {
  if (server === undefined) return document;
  // An import reads the first 20 servers of a list.
  const servers = listAt(document, "servers").slice(0, 19);
  return { ...document, servers: [...servers, { url: new URL(server).href }] };
}

/**
 * Returns the operations with the given ids (default: all operations), but at most `maxOperations`.
 * @throws ApiError `bad_request` for an id that the OpenAPI document does not have.
 */
function selectOperations(
  found: readonly FoundOperation[],
  ids: readonly string[] | undefined,
  warn: (message: string) => void,
): readonly FoundOperation[] {
  const missing = ids?.find((id) => !found.some((each) => each.id === id));
  if (missing !== undefined) {
    const existing = found.slice(0, 30).map(({ id }) => id);
    throw new ApiError(
      "bad_request",
      `operations: the document has no operation ${missing}. It has ${existing.join(", ")}${found.length > 30 ? " and others" : ""}.`,
    );
  }
  const all = ids === undefined ? found : found.filter(({ id }) => ids.includes(id));
  if (all.length > maxOperations)
    warn(
      `Only the first ${maxOperations} of ${all.length} operations were imported: choose others with "operations".`,
    );
  return all.slice(0, maxOperations);
}

/**
 * Checks that an agent's configuration accepts the operation.
 * @throws UnsupportedError that names the first invalid field.
 */
function requireValid(operation: Omit<Imported, "credentials"> & { readonly name: string }): void {
  const parsed = httpToolBody.safeParse({
    type: "http",
    name: "api",
    allowed_hosts: [hostOf(operation.url)],
    operations: [operation],
  });
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined)
    throw new UnsupportedError(`${issue.path.slice(2).join(".")} ${issue.message}`);
}

type WithCredentials = {
  readonly operation: Omit<Imported, "credentials"> & { readonly name: string };
  readonly credentials: Imported["credentials"];
};

/**
 * Returns the tool's headers, query and operations. The credentials are in the tool's headers and
 * query if all operations that need credentials need the same ones, so that the client enters them
 * once. They are then also sent with operations that need none, with a warning. The credentials are
 * in each operation if one that needs none has another origin or sets the same header or parameter.
 */
function withCredentials(all: readonly WithCredentials[], warn: (message: string) => void) {
  const needing = all.filter(({ credentials }) => hasAny(credentials));
  const [first] = needing;
  const origins = new Set(needing.map(({ operation }) => originOf(operation.url)));
  const others = all.filter((each) => !needing.includes(each));
  const isShared =
    first !== undefined &&
    new Set(needing.map(({ credentials }) => JSON.stringify(credentials))).size === 1 &&
    others.every(
      ({ operation }) =>
        origins.has(originOf(operation.url)) && !setsAny(operation, first.credentials),
    );
  if (!isShared) {
    const operations = all.map(({ operation, credentials }) => ({
      ...operation,
      headers: { ...operation.headers, ...credentials.headers },
      query: { ...operation.query, ...credentials.query },
    }));
    return { headers: {}, query: {}, operations };
  }
  if (others.length > 0) {
    const names = others.map(({ operation }) => operation.name);
    warn(
      `The tool's credentials are also sent with operations that need none: ${names.join(", ")}.`,
    );
  }
  return { ...first.credentials, operations: all.map(({ operation }) => operation) };
}

function hasAny({ headers, query }: Imported["credentials"]): boolean {
  return Object.keys(headers).length + Object.keys(query).length > 0;
}

/** Returns whether the operation sets a header or a query parameter of the credentials itself. */
function setsAny(
  operation: WithCredentials["operation"],
  { headers, query }: Imported["credentials"],
): boolean {
  const own = [...Object.keys(operation.headers), operation.idempotency_header ?? ""];
  const ownHeaders = new Set(own.map((name) => name.toLowerCase()));
  return (
    Object.keys(headers).some((name) => ownHeaders.has(name.toLowerCase())) ||
    Object.keys(query).some((name) => Object.hasOwn(operation.query, name))
  );
}

function originOf(url: string): string {
  return withoutPlaceholders(url).origin;
}

function hostOf(url: string): string {
  return withoutPlaceholders(url).host;
}

/** Returns an operation's URL up to its first placeholder or its query. */
function withoutPlaceholders(url: string): URL {
  return new URL(url.replace(/[{?].*$/, ""));
}
