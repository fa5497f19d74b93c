import { isJsonObject } from "../../base/json/index.ts";
import { listAt, nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import type { ImportedDocument } from "./references.ts";

interface EmptySecret {
  readonly secret: "";
  readonly prefix?: string;
}

/**
 * The headers and query parameters that carry an operation's credentials. Their secrets are empty;
 * the client fills them in.
 */
export interface Credentials {
  readonly headers: Readonly<Record<string, EmptySecret>>;
  readonly query: Readonly<Record<string, EmptySecret>>;
}

/**
 * Returns the credentials of the first security requirement, or none if authentication is optional.
 * @throws UnsupportedError if a reference to the security scheme cannot be followed.
 */
export function readSecurity(
  document: ImportedDocument,
  operation: OpenapiNode,
  warn: (message: string) => void,
): Credentials {
  const headers: Record<string, EmptySecret> = {};
  const query: Record<string, EmptySecret> = {};
  const alternatives = (
    Array.isArray(operation.security) ? operation.security : listAt(document.root, "security")
  ).filter(isJsonObject);
  if (alternatives.some((alternative) => Object.keys(alternative).length === 0))
    return { headers, query };
  for (const name of Object.keys(alternatives[0] ?? {})) {
    const declared = nodeAt(nodeAt(nodeAt(document.root, "components"), "securitySchemes"), name);
    if (declared === undefined) {
      warn(`its security scheme ${name} is not in the document`);
      continue;
    }
    const scheme = document.follow(declared).node;
    const type = textAt(scheme, "type");
    const location = `${type} ${textAt(scheme, type === "http" ? "scheme" : "in")?.toLowerCase()}`;
    const key = textAt(scheme, "name") ?? "";
    if (location === "apiKey header") headers[key] = { secret: "" };
    else if (location === "apiKey query") query[key] = { secret: "" };
    else if (location === "http bearer") headers.Authorization = { secret: "", prefix: "Bearer " };
    else if (location === "http basic") headers.Authorization = { secret: "", prefix: "Basic " };
    else if (type === "oauth2" || type === "openIdConnect")
      headers.Authorization = { secret: "", prefix: "Bearer " };
    else warn(`its security scheme ${name} (${location}) is not supported`);
    if (location === "http basic") warn("its secret is the base64 of user:password");
    if (type === "oauth2" || type === "openIdConnect")
      warn(`its security scheme ${name} issues tokens that expire: use a long-lived one`);
  }
  return { headers, query };
}
