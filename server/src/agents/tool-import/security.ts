import { isJsonObject } from "../../base/json-object.ts";
import { listAt, nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import type { ImportedDocument } from "./references.ts";

interface EmptySecret {
  readonly secret: "";
  readonly prefix?: string;
}

/** Credentials that an operation wants, each an empty place to be filled in. */
export interface Credentials {
  readonly headers: Readonly<Record<string, EmptySecret>>;
  readonly query: Readonly<Record<string, EmptySecret>>;
}

/** The first way of authentication that the document offers; none where it offers to do without. */
export function readSecurity(
  document: ImportedDocument,
  operation: OpenapiNode,
  warn: (what: string) => void,
): Credentials {
  const headers: Record<string, EmptySecret> = {};
  const query: Record<string, EmptySecret> = {};
  const ways = (
    Array.isArray(operation.security) ? operation.security : listAt(document.root, "security")
  ).filter(isJsonObject);
  if (ways.some((way) => Object.keys(way).length === 0)) return { headers, query };
  for (const name of Object.keys(ways[0] ?? {})) {
    const declared = nodeAt(nodeAt(nodeAt(document.root, "components"), "securitySchemes"), name);
    if (declared === undefined) {
      warn(`its security scheme ${name} is not in the document`);
      continue;
    }
    const scheme = document.follow(declared).node;
    const type = textAt(scheme, "type");
    const place = `${type} ${textAt(scheme, type === "http" ? "scheme" : "in")?.toLowerCase()}`;
    const key = textAt(scheme, "name") ?? "";
    if (place === "apiKey header") headers[key] = { secret: "" };
    else if (place === "apiKey query") query[key] = { secret: "" };
    else if (place === "http bearer") headers.Authorization = { secret: "", prefix: "Bearer " };
    else if (place === "http basic") headers.Authorization = { secret: "", prefix: "Basic " };
    else if (type === "oauth2" || type === "openIdConnect")
      headers.Authorization = { secret: "", prefix: "Bearer " };
    else warn(`its security scheme ${name} (${place}) cannot be sent`);
    if (place === "http basic") warn("its secret is the base64 of user:password");
    if (type === "oauth2" || type === "openIdConnect")
      warn(`its security scheme ${name} gives out tokens that expire: fill in one that lasts`);
  }
  return { headers, query };
}
