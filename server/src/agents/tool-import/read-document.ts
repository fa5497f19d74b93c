import { ApiError } from "../../base/errors.ts";
import { fieldOf, isJsonObject, type JsonObject, tryParseJson } from "../../base/json/index.ts";
import { readYaml } from "../../base/yaml/index.ts";

/** An object of an OpenAPI document. Its fields are not validated. */
export type OpenapiNode = Readonly<JsonObject>;

export function nodeAt(node: OpenapiNode | undefined, name: string): OpenapiNode | undefined {
  const value = fieldOf(node, name);
  return isJsonObject(value) ? value : undefined;
}

export function textAt(node: OpenapiNode | undefined, name: string): string | undefined {
  const value = node?.[name];
  return typeof value === "string" ? value : undefined;
}

export function listAt(node: OpenapiNode | undefined, name: string): readonly unknown[] {
  const value = node?.[name];
  return Array.isArray(value) ? value : [];
}

/**
 * Reads an OpenAPI document: an object, or a string with JSON or YAML.
 * @param workspaceId takes turns with others in parsing YAML
 * @throws ApiError `bad_request` unless it is OpenAPI 3.0 or 3.1.
 */
export async function readDocument(
  given: string | OpenapiNode,
  workspaceId: string,
): Promise<OpenapiNode> {
  const document = typeof given === "string" ? await parsed(given, workspaceId) : given;
  if (!isJsonObject(document)) throw unreadable("is not a JSON object");
  if ("swagger" in document) throw unreadable("is Swagger 2: convert it to OpenAPI 3 first");
  const version = document.openapi;
  if (typeof version !== "string" || !/^3\.[01]\./.test(version))
    throw unreadable('is not OpenAPI 3.0 or 3.1: "openapi" must be 3.0.x or 3.1.x');
  return document;
}

async function parsed(given: string, workspaceId: string): Promise<unknown> {
  // RFC 8259 allows to skip a byte order mark: some editors add one.
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  const json = tryParseJson(text);
  if (json !== undefined) return json;
  if (/^\s*[{[]/.test(text)) throw unreadable("begins like JSON but is not valid JSON");
  const read = await readYaml(text, workspaceId);
  if (read.mistake !== undefined) throw unreadable(`is neither JSON nor YAML: it ${read.mistake}`);
  return read.value;
}

function unreadable(reason: string): ApiError {
  return new ApiError("bad_request", `document ${reason}.`);
}
