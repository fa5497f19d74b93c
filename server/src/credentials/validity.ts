/**
 * When a credential is valid, as SQL conditions on the rows behind it, which are named by their
 * aliases. Every statement that accepts a credential uses these conditions.
 *
 * A revoked credential has no row. A rotated one keeps its row, with `expires_at` at the end of its
 * grace period. The database's clock decides what has expired.
 */

/** Not expired. A row without `expires_at` never expires. */
export function isUnexpired(row: string): string {
  return `(${row}.expires_at is null or ${row}.expires_at > now())`;
}

/** An agent's own token is valid as long as its agent is not deleted. */
export function isAgentToken(token: string, agent: string): string {
  return `${token}.trigger_id is null and ${isUnexpired(token)} and ${isAgentOf(agent, token)}`;
}

/** A trigger's token is valid as long as neither the trigger nor its agent is deleted. */
export function isTriggerToken(token: string, trigger: string, agent: string): string {
  return `${trigger}.id = ${token}.trigger_id and ${trigger}.workspace_id = ${token}.workspace_id
    and ${trigger}.deleted_at is null and ${isUnexpired(token)} and ${isAgentOf(agent, token)}`;
}

/** A key's secret is valid as long as neither the secret nor the key has expired. */
export function isKeySecret(secret: string, key: string): string {
  return `${key}.id = ${secret}.key_id and ${key}.workspace_id = ${secret}.workspace_id
    and ${isUnexpired(secret)} and ${isUnexpired(key)}`;
}

function isAgentOf(agent: string, token: string): string {
  return `${agent}.id = ${token}.agent_id and ${agent}.workspace_id = ${token}.workspace_id
    and ${agent}.deleted_at is null`;
}
