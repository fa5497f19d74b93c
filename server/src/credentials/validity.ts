/**
 * SQL conditions for whether a credential is valid. The parameters of each function are the aliases
 * of the table rows that the condition uses. Every statement that accepts a credential uses these
 * conditions.
 *
 * A revoked credential has no row. A rotated one keeps its row, and its `expires_at` is the end of
 * its grace period. Expiry is decided by the database's clock.
 */

/** Returns the condition that a row has not expired. A row without `expires_at` never expires. */
export function isUnexpired(row: string): string {
  return `(${row}.expires_at is null or ${row}.expires_at > now())`;
}

/**
 * Returns the condition that an agent's own token is valid: it has not expired, and its agent is
 * not deleted.
 */
export function isAgentToken(token: string, agent: string): string {
  return `${token}.trigger_id is null and ${isUnexpired(token)} and ${isAgentOf(agent, token)}`;
}

/**
 * Returns the condition that a trigger's token is valid: it has not expired, and neither its
 * trigger nor its agent is deleted.
 */
export function isTriggerToken(token: string, trigger: string, agent: string): string {
  return `${trigger}.id = ${token}.trigger_id and ${trigger}.workspace_id = ${token}.workspace_id
    and ${trigger}.deleted_at is null and ${isUnexpired(token)} and ${isAgentOf(agent, token)}`;
}

/**
 * Returns the condition that a key's secret is valid: neither the secret nor the key has expired.
 */
export function isKeySecret(secret: string, key: string): string {
  return `${key}.id = ${secret}.key_id and ${key}.workspace_id = ${secret}.workspace_id
    and ${isUnexpired(secret)} and ${isUnexpired(key)}`;
}

function isAgentOf(agent: string, token: string): string {
  return `${agent}.id = ${token}.agent_id and ${agent}.workspace_id = ${token}.workspace_id
    and ${agent}.deleted_at is null`;
}
