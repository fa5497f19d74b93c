import { httpToolBody, type ImportedHttpTool, importHttpToolBody } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { ApiError } from "../../base/errors.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { type Found, findOperations, type Imported, importOperation } from "./operation.ts";
import { nodeAt, readDocument, textAt } from "./read-document.ts";
import { openDocument, Unusable } from "./references.ts";
import { nameMaker } from "./to-names.ts";

/** As many as a tool may have. */
const maxOperations = 64;
const maxWarnings = 200;

/**
 * Makes an `http` tool of an OpenAPI document. Nothing is stored, fetched or called: the answer is to be looked at, completed with
 * secrets and put into an agent. What a document asks for that tools cannot do is left out, with a warning.
 *
 * @throws ApiError `bad_request` for no such document, an operation that is not in it, or when nothing of it is left.
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
  const document = openDocument(await readDocument(body.document));
  const warnings = new Set<string>();
  const warn = (what: string) =>
    void (warnings.size < maxWarnings && warnings.add(what.slice(0, 500)));
  const nameFor = nameMaker();
  const operations = chosen(findOperations(document), body.operations, warn).flatMap((found) => {
    try {
      const imported = importOperation(document, found, (what) => warn(`${found.id}: ${what}.`));
      const { credentials, ...operation } = { name: nameFor(found.id, "operation"), ...imported };
      requireFit(operation);
      return [{ operation, credentials }];
    } catch (thrown) {
      if (!(thrown instanceof Unusable)) throw thrown;
      warn(`${found.id} is left out: ${thrown.message}.`);
      return [];
    }
  });
  if (operations.length === 0)
    throw new ApiError(
      "bad_request",
      `Nothing of the document can be called. ${[...warnings].slice(0, 5).join(" ")}`,
    );

  const info = nodeAt(document.root, "info");
  const tool = {
    type: "http",
    name: nameMaker()(textAt(info, "title") ?? "", "api"),
    description: (textAt(info, "description") ?? textAt(info, "title") ?? "").slice(0, 1_000),
    allowed_hosts: [
      ...new Set(
        operations.map(({ operation }) => new URL(operation.url.replace(/[{?].*$/, "")).host),
      ),
    ],
    ...withCredentials(operations),
  };
  return { tool, warnings: [...warnings] };
}

/** @throws ApiError for an id that is not there. */
function chosen(
  found: readonly Found[],
  ids: readonly string[] | undefined,
  warn: (what: string) => void,
): readonly Found[] {
  const missing = ids?.find((id) => !found.some((each) => each.id === id));
  if (missing !== undefined) {
    const there = found.slice(0, 30).map(({ id }) => id);
    throw new ApiError(
      "bad_request",
      `operations: there is no operation ${missing}. There are ${there.join(", ")}${found.length > 30 ? " and others" : ""}.`,
    );
  }
  const all = ids === undefined ? found : found.filter(({ id }) => ids.includes(id));
  if (all.length > maxOperations)
    warn(
      `Of ${all.length} operations the first ${maxOperations} were taken: choose them with "operations".`,
    );
  return all.slice(0, maxOperations);
}

/** What the configuration of an agent would refuse is left out here. @throws Unusable */
function requireFit(operation: Omit<Imported, "credentials"> & { readonly name: string }): void {
  const { host } = new URL(operation.url.replace(/[{?].*$/, ""));
  const fit = httpToolBody.safeParse({
    type: "http",
    name: "api",
    allowed_hosts: [host],
    operations: [operation],
  });
  const [issue] = fit.error?.issues ?? [];
  if (issue !== undefined) throw new Unusable(`${issue.path.slice(2).join(".")} ${issue.message}`);
}

type WithCredentials = {
  readonly operation: Omit<Imported, "credentials">;
  readonly credentials: Imported["credentials"];
};

/** Credentials that all operations want stand once, for the whole tool. */
function withCredentials(all: readonly WithCredentials[]) {
  const shared =
    new Set(all.map(({ credentials }) => JSON.stringify(credentials))).size === 1
      ? all[0]?.credentials
      : undefined;
  const operations = all.map(({ operation, credentials }) => ({
    ...operation,
    headers: { ...operation.headers, ...(shared === undefined ? credentials.headers : {}) },
    query: { ...operation.query, ...(shared === undefined ? credentials.query : {}) },
  }));
  return { headers: shared?.headers ?? {}, query: shared?.query ?? {}, operations };
}
