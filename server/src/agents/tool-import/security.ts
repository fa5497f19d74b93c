import { isToolHeader, isToolQueryParameter } from "@beckon/contract";
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

/** Maximum alternative security requirements that are read. They are read for each operation. */
const maxAlternatives = 20;

/**
 * Returns the credentials of the first security requirement that a tool can meet, else of the first
 * one; none if authentication is optional. Warns about credentials that no tool can have.
 * @throws UnsupportedError if a reference to the security scheme cannot be followed.
 */
export function readSecurity(
  document: ImportedDocument,
  operation: OpenapiNode,
  warn: (message: string) => void,
): Credentials {
  const alternatives = (
    Array.isArray(operation.security) ? operation.security : listAt(document.root, "security")
  ).filter(isJsonObject);
  if (alternatives.some((alternative) => Object.keys(alternative).length === 0))
    return { headers: {}, query: {} };
  let chosen: Requirement | undefined;
  for (const alternative of alternatives.slice(0, maxAlternatives)) {
    const read = readRequirement(document, Object.keys(alternative));
    if (read.isComplete || chosen === undefined) chosen = read;
    if (read.isComplete) break;
  }
  for (const warning of chosen?.warnings ?? []) warn(warning);
  return chosen?.credentials ?? { headers: {}, query: {} };
}

interface Requirement {
  readonly credentials: Credentials;
  /** Whether a tool can have the credentials of all its schemes. */
  readonly isComplete: boolean;
  readonly warnings: readonly string[];
}

/** Reads the security schemes of a requirement, which are all needed. */
function readRequirement(document: ImportedDocument, schemes: readonly string[]): Requirement {
  const headers: Record<string, EmptySecret> = {};
  const query: Record<string, EmptySecret> = {};
  const headerNames = new Set<string>();
  const missing: string[] = [];
  const notes: string[] = [];
  for (const name of schemes) {
    const declared = nodeAt(nodeAt(nodeAt(document.root, "components"), "securitySchemes"), name);
    if (declared === undefined) {
      missing.push(`its security scheme ${name} is not in the document`);
      continue;
    }
    const scheme = document.follow(declared).node;
    const type = textAt(scheme, "type");
    const location = `${type} ${textAt(scheme, type === "http" ? "scheme" : "in")?.toLowerCase()}`;
    const key = textAt(scheme, "name") ?? "";
    if (location === "apiKey query") {
      if (isToolQueryParameter(key)) query[key] = { secret: "" };
      else missing.push(`its security scheme ${name} is left out: "${key}" is not a valid name`);
      continue;
    }
    const isOAuth = type === "oauth2" || type === "openIdConnect";
    const prefix =
      location === "http basic"
        ? "Basic "
        : location === "http bearer" || isOAuth
          ? "Bearer "
          : undefined;
    if (prefix === undefined && location !== "apiKey header") {
      missing.push(`its security scheme ${name} (${location}) is not supported`);
      continue;
    }
    const header = prefix === undefined ? key : "Authorization";
    if (!isToolHeader(header)) {
      missing.push(
        `its security scheme ${name} is left out: a tool cannot set the header "${header}"`,
      );
      continue;
    }
    if (headerNames.has(header.toLowerCase())) {
      missing.push(`its security scheme ${name} is left out: the header ${header} is already set`);
      continue;
    }
    headerNames.add(header.toLowerCase());
    headers[header] = { secret: "", ...(prefix === undefined ? {} : { prefix }) };
    if (location === "http basic") notes.push("its secret is the base64 of user:password");
    if (isOAuth)
      notes.push(`its security scheme ${name} issues tokens that expire: use a long-lived one`);
  }
  return {
    credentials: { headers, query },
    isComplete: missing.length === 0,
    warnings: [...missing, ...notes],
  };
}
