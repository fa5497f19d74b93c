import type { SecretKept, ToolGrant, ToolGrantBody, ToolInDocument } from "@beckon/contract";
import { ApiError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { encryptFor, requireGivenFor, type SecretCipher } from "../../base/secrets/index.ts";
import {
  type AnyValue,
  type EncryptedSecret,
  mapValues,
  ownerOfSecret,
  type SecretChange,
  type SecretLocation,
  type StoredSecret,
  valuesOf,
} from "../records/index.ts";

/**
 * Returns the tools with references in place of secrets, and the secrets to write and to delete.
 *
 * - A new secret (`{secret: "…"}`) is encrypted for the origins to which it will be sent. If the
 *   same location already had a secret, the new secret takes over its id, even if an export left out
 *   its value. Runs that execute with older versions of the agent then use the new value too. This
 *   is intended: a credential is usually replaced because the old one must no longer be used.
 * - A reference (`{secret_id}`) keeps its secret, even if the reference moves to another location.
 *   It is rejected if the secret would then be sent to a new origin. Otherwise a caller who can
 *   change an agent could have the agent's credentials sent to a server of their own.
 * - A secret that an export left out (`{secret: null}`) becomes a reference without a secret. The
 *   reference is shown with `secret_last4: null`. Requests that need the secret are not sent until
 *   it is given.
 * - A secret to which the given tools no longer refer is deleted, even if an older version of the
 *   agent still refers to it.
 *
 * @param before The agent's current tools and secrets; empty for a new agent.
 * @throws ApiError `bad_request` for a reference to a secret that the agent does not have, or that
 *   would be sent to a new origin.
 */
export function planSecrets(
  cipher: SecretCipher,
  owner: { readonly workspaceId: string; readonly agentId: string },
  given: readonly (ToolGrantBody | ToolInDocument)[],
  before: { readonly tools: readonly ToolGrant[]; readonly kept: readonly StoredSecret[] },
): SecretChange & { readonly tools: ToolGrant[] } {
  const known = new Map(before.kept.map((secret) => [secret.id, secret]));
  const replaceable = secretIdsByKey(before.tools);
  // Ids that the current tools refer to, but whose secret was left out by an export or was deleted.
  const missing = new Set([...replaceable.values()].filter((id) => !known.has(id)));
  const used = new Set(secretIdsByKey(given).values());
  const write: EncryptedSecret[] = [];

  const resolveValue = (value: AnyValue, location: SecretLocation): string | SecretKept => {
    if (typeof value === "string") return value;
    const { prefix } = value;
    const reference = (id: string): SecretKept => ({
      secret_id: id,
      ...(prefix === undefined ? {} : { prefix }),
    });
    if ("secret_id" in value) {
      if (!missing.has(value.secret_id)) requireKnown(known.get(value.secret_id), location);
      return reference(value.secret_id);
    }
    if (value.secret === null) return reference(newId("sec"));
    const earlier = replaceable.get(location.key);
    const id = earlier !== undefined && !used.has(earlier) ? earlier : newId("sec");
    used.add(id);
    const origins = [...location.origins].sort();
    const sealed = encryptFor(cipher, value.secret, ownerOfSecret({ ...owner, id }), origins);
    // For a secret under 12 characters, `last4` is empty, because four characters would reveal too
    // much.
    write.push({
      id,
      origins,
      sealed,
      last4: value.secret.length >= 12 ? value.secret.slice(-4) : "",
    });
    return reference(id);
  };
  const tools = mapValues(given, resolveValue);
  return { tools, write, remove: before.kept.map(({ id }) => id).filter((id) => !used.has(id)) };
}

/** Returns the secret ids that the tools refer to, by the `key` of their `SecretLocation`. */
function secretIdsByKey(tools: readonly (ToolGrantBody | ToolInDocument)[]): Map<string, string> {
  return new Map(
    valuesOf<AnyValue>(tools).flatMap(({ value, location }) =>
      typeof value !== "string" && "secret_id" in value ? [[location.key, value.secret_id]] : [],
    ),
  );
}

function requireKnown(secret: StoredSecret | undefined, { path, origins }: SecretLocation): void {
  if (secret === undefined) {
    throw new ApiError(
      "bad_request",
      `${path} refers to a secret that this agent does not have. Send the secret itself as {"secret": "…"}.`,
    );
  }
  requireGivenFor(
    secret.origins,
    origins,
    (origin) =>
      `${path} would send its secret to ${origin}, for which it was not given. Send the secret again as {"secret": "…"}.`,
  );
}
