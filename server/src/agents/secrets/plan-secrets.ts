import type { SecretKept, ToolGrant, ToolGrantBody, ToolInDocument } from "@beckon/contract";
import { ApiError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { encryptFor, requireGivenFor, type SecretCipher } from "../../base/secrets/index.ts";
import type { KeptSecret, SealedSecret, SecretChange } from "../records/index.ts";
import { type AnyValue, mapValues, ownerOfSecret, type SecretPlace } from "../records/index.ts";

/**
 * What becomes of the secrets when an agent gets these tools: the tools with references in place of secrets, and the rows to write
 * and to delete.
 *
 * - A secret that is given is sealed for where it will be sent. At a place that had one it takes its id, so that versions pinned by
 *   runs under way use the new one too: who changes a credential has done so because the old one is to be used no more.
 * - A secret that is sent back as it was shown is kept, wherever it then stands, but is sent nowhere it was not given for: who may
 *   change an agent and does not know its credentials must not be able to send them to a server of his own.
 * - A secret that a document leaves out gets a reference to nothing: shown as gone, and sent nowhere, until it is given. As long as it is not,
 *   it may be sent back as any other.
 * - One that no place refers to any more is deleted, at once and for every version.
 *
 * @throws ApiError `bad_request` for a reference to no secret of this agent, or one that leads to a new place.
 */
export function planSecrets(
  cipher: SecretCipher,
  owner: { readonly workspaceId: string; readonly agentId: string },
  given: readonly (ToolGrantBody | ToolInDocument)[],
  before: { readonly tools: readonly ToolGrant[]; readonly kept: readonly KeptSecret[] },
): SecretChange & { readonly tools: ToolGrant[] } {
  const known = new Map(before.kept.map((secret) => [secret.id, secret]));
  const replaceable = idsByPlace(before.tools);
  const missing = new Set([...replaceable.values()].filter((id) => !known.has(id)));
  const used = new Set(idsByPlace(given).values());
  const write: SealedSecret[] = [];

  const settle = (value: AnyValue, place: SecretPlace): string | SecretKept => {
    if (typeof value === "string") return value;
    const { prefix } = value;
    const reference = (id: string): SecretKept => ({
      secret_id: id,
      ...(prefix === undefined ? {} : { prefix }),
    });
    if ("secret_id" in value) {
      if (!missing.has(value.secret_id)) requireKnown(known.get(value.secret_id), place);
      return reference(value.secret_id);
    }
    if (value.secret === null) return reference(newId("sec"));
    const earlier = replaceable.get(place.key);
    const id =
      earlier !== undefined && known.has(earlier) && !used.has(earlier) ? earlier : newId("sec");
    used.add(id);
    const origins = [...place.origins].sort();
    const sealed = encryptFor(cipher, value.secret, ownerOfSecret({ ...owner, id }), origins);
    // Of a short secret the last four would be much of it.
    write.push({
      id,
      origins,
      sealed,
      last4: value.secret.length >= 12 ? value.secret.slice(-4) : "",
    });
    return reference(id);
  };
  const tools = given.map((grant, index) =>
    grant.type === "http" ? mapValues<AnyValue, string | SecretKept>(grant, index, settle) : grant,
  );
  return { tools, write, remove: before.kept.map(({ id }) => id).filter((id) => !used.has(id)) };
}

/** The references in tools, by place. */
function idsByPlace(tools: readonly (ToolGrantBody | ToolInDocument)[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const [index, grant] of tools.entries()) {
    if (grant.type !== "http") continue;
    mapValues<AnyValue, AnyValue>(grant, index, (value, { key }) => {
      if (typeof value !== "string" && "secret_id" in value) ids.set(key, value.secret_id);
      return value;
    });
  }
  return ids;
}

function requireKnown(secret: KeptSecret | undefined, { path, origins }: SecretPlace): void {
  if (secret === undefined) {
    throw new ApiError(
      "bad_request",
      `${path} refers to no secret of this agent. Give the secret itself as {"secret": "…"}.`,
    );
  }
  requireGivenFor(
    secret.origins,
    origins,
    (stray) =>
      `${path} would send its secret to ${stray}, for which it was not given. Give the secret again.`,
  );
}
