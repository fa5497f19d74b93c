import type { Context } from "../base/context.ts";
import { fieldOf } from "../base/json/index.ts";
import type { UnparsedBody } from "../base/parse.ts";
import { type FoundProviders, findNamedByModels } from "../providers/index.ts";

/**
 * Returns the operator's provider of the model in the settings of an agent, if they have one. Call
 * it before the transaction in which they are parsed, as `findNamedByModels`.
 */
export async function findOperatorProviders(
  ctx: Context,
  body: UnparsedBody,
): Promise<FoundProviders> {
  const model = body.ok ? fieldOf(body.value, "model") : undefined;
  return findNamedByModels(ctx, typeof model === "string" ? [model] : []);
}
