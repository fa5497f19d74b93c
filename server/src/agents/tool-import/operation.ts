import type { ValueSchema } from "@beckon/contract";
import { isJsonObject } from "../../base/json/index.ts";
import { shorten } from "../../base/shorten.ts";
import { toFormSchema } from "./form-body.ts";
import { type DeclaredParameters, readParameters } from "./parameters.ts";
import { listAt, nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import { type ImportedDocument, UnsupportedError } from "./references.ts";
import { type Credentials, readSecurity } from "./security.ts";
import { toValueSchema } from "./value-schema.ts";

/** An operation of an OpenAPI document. */
export interface FoundOperation extends DeclaredParameters {
  /** The operation's `operationId`, or its method and path if it has none. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/** An operation of a tool, without its name, as it was converted from an OpenAPI document. */
export interface Imported {
  readonly description: string;
  readonly method: string;
  readonly url: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly parameters: ValueSchema;
  readonly body?: ValueSchema;
  readonly body_type?: "form";
  readonly idempotency_header?: string;
  readonly credentials: Credentials;
}

/**
 * Maximum characters of a tool's URL. Longer paths and server URLs are not used: the time of some
 * regular expressions below grows with the square of the length.
 */
const maxUrlCharacters = 2_000;

/**
 * Maximum servers read from a list. The document's list is read again for each operation, so a long
 * one would make an import slow.
 */
const maxServers = 20;

const methods = ["get", "head", "post", "put", "patch", "delete"];

/**
 * Returns all operations of an OpenAPI document, in the order of its paths. Warns about a path
 * whose reference cannot be followed.
 */
export function findOperations(
  document: ImportedDocument,
  warn: (message: string) => void,
): FoundOperation[] {
  return Object.entries(nodeAt(document.root, "paths") ?? {}).flatMap(([path, value]) => {
    if (!isJsonObject(value)) return [];
    const item = itemAt(document, value, (reason) => warn(`${path} is left out: ${reason}.`));
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

function itemAt(
  document: ImportedDocument,
  value: OpenapiNode,
  warn: (reason: string) => void,
): OpenapiNode {
  try {
    return document.follow(value).node;
  } catch (thrown) {
    if (!(thrown instanceof UnsupportedError)) throw thrown;
    warn(thrown.message);
    return {};
  }
}

/**
 * Converts an operation of an OpenAPI document to an operation of a tool.
 * @throws UnsupportedError if a tool cannot have the operation, for example because its required
 *   body is neither JSON nor a form.
 */
export function importOperation(
  document: ImportedDocument,
  found: FoundOperation,
  warn: (message: string) => void,
): Imported {
  const { method, path, item, node } = found;
  if (!path.startsWith("/")) throw new UnsupportedError("its path does not begin with a slash");
  if (path.length > maxUrlCharacters) throw new UnsupportedError("its path is too long for a tool");
  const body = readBody(document, node, method, warn);
  const credentials = readSecurity(document, node, warn);
  const parameters = readParameters(document, found, {
    hasBody: body !== undefined,
    credentials,
    warn,
  });
  const template = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const known = parameters.path.get(name);
    if (known === undefined)
      throw new UnsupportedError(`its path contains {${name}}, which is not a parameter`);
    return `{${known}}`;
  });
  const texts = [textAt(node, "summary"), textAt(node, "description")].filter(Boolean);
  const text = shorten(texts.join("\n\n"), 2_000);
  return {
    description: text.trim() === "" ? `${method} ${path}` : text,
    method,
    url: serverOf([node, item, document.root], warn) + template,
    query: parameters.query,
    headers: {
      ...parameters.headers,
      ...(body?.type === undefined ? {} : { "Content-Type": body.type }),
    },
    parameters: parameters.schema,
    ...(body === undefined ? {} : { body: body.schema }),
    ...(body?.isForm === true ? { body_type: "form" as const } : {}),
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
  warn: (message: string) => void,
) {
  if (operation.requestBody === undefined) return undefined;
  const { node } = document.follow(operation.requestBody);
  const content = nodeAt(node, "content") ?? {};
  const types = Object.keys(content);
  const json =
    types.find((name) => /^application\/json *(;|$)/i.test(name)) ??
    types.find((name) => /\+json *(;|$)/i.test(name));
  const type =
    json ?? types.find((name) => /^application\/x-www-form-urlencoded *(;|$)/i.test(name));
  const isForm = json === undefined;
  const inBody = (message: string) => warn(`body: ${message}`);
  const media = nodeAt(content, type ?? "") ?? {};
  const readSchema = () => {
    const schema = toValueSchema(document, nodeAt(media, "schema") ?? {}, inBody);
    return isForm ? toFormSchema(schema, media, inBody) : schema;
  };
  const isRequired = node.required === true;
  const schema =
    type === undefined
      ? "its body is neither JSON nor a form"
      : method === "GET" || method === "HEAD"
        ? `it sends a body with ${method}`
        : readSchema();
  if (typeof schema === "string" || type === undefined) {
    if (isRequired) throw new UnsupportedError(String(schema));
    warn(`${schema}: it is left out`);
    return undefined;
  }
  if (!isRequired) warn("its body is optional in the document, but the tool always sends it");
  const isDefault = /^application\/(json|x-www-form-urlencoded)$/i.test(type);
  return { schema, isForm, type: isDefault ? undefined : type };
}

/**
 * Returns the first absolute URL among the servers of the operation, else of its path item, else of
 * the document. Warns if the operation or its path item has only relative servers: in OpenAPI these
 * take precedence, but they are relative to the document's URL, which is not known.
 * @param holders the operation, its path item and the document.
 * @throws UnsupportedError if there is no server with an absolute URL.
 */
function serverOf(holders: readonly OpenapiNode[], warn: (message: string) => void): string {
  let passedOver: string | undefined;
  for (const holder of holders) {
    const urls = listAt(holder, "servers").slice(0, maxServers).filter(isJsonObject).map(urlOf);
    const absolute = urls.find((url) => /^https?:\/\//i.test(url) && URL.canParse(url));
    if (absolute === undefined) {
      passedOver ??= urls[0];
      continue;
    }
    const { origin, pathname } = new URL(absolute);
    const server = origin + pathname.replace(/\/+$/, "");
    if (passedOver !== undefined)
      warn(`its server "${passedOver}" is not an absolute HTTP URL: ${server} is used`);
    return server;
  }
  throw new UnsupportedError(
    'the document has no server with an absolute URL. Name it in "server", for example https://api.example.com',
  );
}

/** Returns a server's URL, with the defaults of its variables; "" if it is too long. */
function urlOf(server: OpenapiNode): string {
  const url = textAt(server, "url") ?? "";
  const variables = nodeAt(server, "variables");
  let characters = url.length;
  if (characters > maxUrlCharacters) return "";
  const expanded = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = textAt(nodeAt(variables, name), "default") ?? "";
    characters += value.length;
    return characters > maxUrlCharacters ? "" : value;
  });
  return characters > maxUrlCharacters ? "" : expanded;
}
