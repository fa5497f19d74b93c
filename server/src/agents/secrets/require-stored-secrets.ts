import type { ToolGrantBody } from "@beckon/contract";
import { ApiError } from "../../base/errors.ts";
import { type AnyValue, valuesOf } from "../records/index.ts";

/**
 * Checks that the tools have no new secret, only references to stored ones. `planSecrets` checks
 * that these are secrets of the agent.
 * @throws ApiError `bad_request` that names the first new secret.
 */
export function requireStoredSecrets(tools: readonly ToolGrantBody[]): void {
  const added = valuesOf<AnyValue>(tools).find(
    ({ value }) => typeof value !== "string" && !("secret_id" in value),
  );
  if (added === undefined) return;
  throw new ApiError(
    "bad_request",
    `${added.location.path} has a new secret, which a draft cannot store. Save it with PATCH ` +
      '/api/public/agents/:agent_id, then refer to it as {"secret_id": "…"}.',
  );
}
