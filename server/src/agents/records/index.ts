export { requireAgent, requireAgentForChange, requireLockedAgent, toAgent } from "./agent.ts";
export { ownerOfSecret } from "./owner-of-secret.ts";
export {
  type AnyValue,
  mapValues,
  type SecretLocation,
  showSecrets,
  valuesOf,
} from "./secret-locations.ts";
export {
  type EncryptedSecret,
  findSecret,
  listEncryptedSecrets,
  listSecrets,
  type SecretChange,
  type StoredSecret,
  upsertSecrets,
  writeSecrets,
} from "./secret-store.ts";
export {
  type AgentRow,
  insertAgents,
  insertNextVersion,
  listAgentRows,
  listOldestAgentRows,
  updateAgentRow,
} from "./store.ts";
export {
  requireVersion,
  toVersion,
  toVersionEntry,
  type VersionInput,
  versionChanges,
} from "./version.ts";
export { listVersionRows, type StoredVersion, withDefaultLimits } from "./version-store.ts";
