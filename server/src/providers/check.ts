import { emptyBody, type ProviderCheck } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { type ProviderConnection, toConnection } from "./connection.ts";
import { modelListRequest, modelNames } from "./list-models.ts";
import { noProvider } from "./provider.ts";
import { findProvider } from "./store.ts";

const timeLimitMs = 10_000;
const maxModels = 200;
const maxNameLength = 200;
/** Characters of the list. OpenAI's is 20 KB. */
const maxListBytes = 4 * 1024 * 1024;

/**
 * Asks the provider for its models: does the key work, and what is there? Whatever the provider does is an answer here, not an error.
 * Its own words are not repeated: some echo the key, and any key may stand in them in a form that we do not know.
 *
 * @throws ApiError `secret_unreadable` when the key was sealed with another master key, or was given for another origin.
 */
export async function checkProvider({
  ctx,
  input,
}: {
  ctx: Context & { readonly fetch: typeof globalThis.fetch };
  input: { providerId: string; body: UnparsedBody };
}): Promise<ProviderCheck> {
  permit(ctx, "providers:write");
  const row = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findProvider(tx, ctx.workspaceId, input.providerId),
  );
  if (row === undefined) throw noProvider();
  parseBody(emptyBody, input.body, {});
  return ask(toConnection(ctx.cipher, row), ctx.fetch);
}

async function ask(
  connection: ProviderConnection,
  fetch: typeof globalThis.fetch,
): Promise<ProviderCheck> {
  const { url, headers } = modelListRequest(connection);
  const signal = AbortSignal.timeout(timeLimitMs);
  try {
    const response = await fetch(url, { headers, signal });
    if (!response.ok) {
      await response.body?.cancel();
      return broken(refusals[response.status] ?? `It answered ${response.status}.`);
    }
    const text = await textOf(response);
    const names = text === undefined ? undefined : modelNames(connection.kind, json(text));
    if (names === undefined)
      return broken("It answered, but not with a list of models: is the base URL that of its API?");
    return { works: true, models: names.filter(isFit).slice(0, maxModels), error: null };
  } catch (thrown) {
    return broken(
      signal.aborted
        ? `It did not answer within ${timeLimitMs / 1_000} seconds.`
        : `It cannot be reached${codeOf(thrown)}.`,
    );
  }
}

const refusals: Readonly<Record<number, string>> = {
  401: "It refuses the key (401).",
  403: "It refuses the key (403).",
  404: "It has no list of models there (404): is the base URL that of its API?",
  429: "It answered 429: too many requests, or the account's limit is used up.",
};

function broken(error: string): ProviderCheck {
  return { works: false, models: [], error };
}

/** A name that could stand in `provider/model`. */
function isFit(name: string): boolean {
  return name.length > 0 && name.length <= maxNameLength && !/[\s\p{C}]/u.test(name);
}

/** undefined when it is too long. */
async function textOf(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxListBytes) return undefined;
  }
  return text;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The code of a failed connection. Messages are left out: they hold addresses. */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}
