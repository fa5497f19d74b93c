import type { ValueSchema } from "@beckon/contract";
import { isJsonObject } from "../../base/json-object.ts";
import { type Declared, readParameters } from "./parameters.ts";
import { listAt, nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import { type ImportedDocument, Unusable } from "./references.ts";
import { type Credentials, readSecurity } from "./security.ts";
import { toValueSchema } from "./value-schema.ts";

/** Where an operation stands in its document. */
export interface Found extends Declared {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/** An operation as a tool takes it, but for its name. */
export interface Imported {
  readonly description: string;
  readonly method: string;
  readonly url: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly parameters: ValueSchema;
  readonly body?: ValueSchema;
  readonly idempotency_header?: string;
  readonly credentials: Credentials;
}

const methods = ["get", "head", "post", "put", "patch", "delete"];

/** All operations of a document, in its order. */
export function findOperations(document: ImportedDocument): Found[] {
  return Object.entries(nodeAt(document.root, "paths") ?? {}).flatMap(([path, value]) => {
    if (!isJsonObject(value)) return [];
    const item = itemAt(document, value);
    return methods.flatMap((method) => {
      const node = nodeAt(item, method);
      return node === undefined
        ? []
        : [
            {
              id: (textAt(node, "operationId") ?? `${method} ${path}`).slice(0, 200),
              method: method.toUpperCase(),
              path,
              item,
              node,
            },
          ];
    });
  });
}

function itemAt(document: ImportedDocument, value: OpenapiNode): OpenapiNode {
  try {
    return document.follow(value).node;
  } catch {
    return {};
  }
}

/** @throws Unusable */
export function importOperation(
  document: ImportedDocument,
  found: Found,
  warn: (what: string) => void,
): Imported {
  const { method, path, item, node } = found;
  const body = readBody(document, node, method, warn);
  const credentials = readSecurity(document, node, warn);
  const parameters = readParameters(document, found, {
    hasBody: body !== undefined,
    credentials,
    warn,
  });
  const template = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const known = parameters.path.get(name);
    if (known === undefined) throw new Unusable(`its path holds {${name}}, which is no parameter`);
    return `{${known}}`;
  });
  const said = [textAt(node, "summary"), textAt(node, "description")]
    .filter(Boolean)
    .join("\n\n")
    .slice(0, 2_000);
  return {
    description: said.trim() === "" ? `${method} ${path}` : said,
    method,
    url: serverOf(document, item, node) + template,
    query: parameters.query,
    headers: {
      ...parameters.headers,
      ...(body?.type === undefined ? {} : { "Content-Type": body.type }),
    },
    parameters: parameters.schema,
    ...(body === undefined ? {} : { body: body.schema }),
    ...(parameters.idempotencyHeader === undefined
      ? {}
      : { idempotency_header: parameters.idempotencyHeader }),
    credentials,
  };
}

function readBody(
  document: ImportedDocument,
  operation: OpenapiNode,
  method: string,
  warn: (what: string) => void,
) {
  if (operation.requestBody === undefined) return undefined;
  const { node } = document.follow(operation.requestBody);
  const content = nodeAt(node, "content") ?? {};
  const type =
    Object.keys(content).find((name) => /^application\/json\b/i.test(name)) ??
    Object.keys(content).find((name) => /\+json\b/i.test(name));
  const needed = node.required === true;
  const lost =
    type === undefined
      ? "its body is not JSON"
      : method === "GET" || method === "HEAD"
        ? `it sends a body with ${method}`
        : undefined;
  if (lost !== undefined || type === undefined) {
    if (needed) throw new Unusable(lost);
    warn(`${lost}: it is left out`);
    return undefined;
  }
  if (!needed) warn("its body may be left out there; here it is always sent");
  const schema = toValueSchema(document, nodeAt(nodeAt(content, type), "schema") ?? {}, (what) =>
    warn(`body: ${what}`),
  );
  return { schema, type: /^application\/json$/i.test(type) ? undefined : type };
}

/** The first server that is named, its variables at their defaults. */
function serverOf(document: ImportedDocument, item: OpenapiNode, operation: OpenapiNode): string {
  const [server] = [operation, item, document.root]
    .flatMap((holder) => listAt(holder, "servers"))
    .filter(isJsonObject);
  const url = (textAt(server, "url") ?? "").replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = nodeAt(nodeAt(server, "variables"), name)?.default;
    return typeof value === "string" ? value : "";
  });
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new Unusable(
      "its document names no server with a whole URL, for example https://api.example.com",
    );
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}
