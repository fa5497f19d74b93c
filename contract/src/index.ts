export {
  acceptInvitationBody,
  changePasswordBody,
  type Me,
  me,
  newAccount,
  resetPasswordBody,
  type Session,
  session,
  setupBody,
  signInBody,
  type User,
  updateMeBody,
  user,
} from "./accounts.ts";
export {
  type Agent,
  type AgentConfig,
  type AgentFilter,
  type AgentVersion,
  type AgentVersionEntry,
  agent,
  agentConfig,
  agentsQuery,
  agentVersion,
  agentVersionEntry,
  compareQuery,
  createAgentBody,
  defaultMaxAnswerBytes,
  duplicateAgentBody,
  type Limits,
  type ModelSettings,
  maxAttemptsLimit,
  pauseAgentBody,
  rotateBody,
  type UpdateAgentBody,
  updateAgentBody,
  type VersionComparison,
  versionComparison,
} from "./agents.ts";
export {
  type AgentInDocument,
  agentsDocument,
  type ExportedAgent,
  exportedAgents,
  exportQuery,
  importedAgents,
} from "./agents-document.ts";
export { isAllowed } from "./allowed-host.ts";
export {
  type AuditEntry,
  type AuditFilter,
  auditEntry,
  auditExportQuery,
  auditQuery,
} from "./audit.ts";
export {
  type AnswerPart,
  answerPart,
  type EventOnWire,
  type EventType,
  eventData,
  eventOnWire,
  eventVersion,
  type FinishReason,
  type NewEvent,
  type NewWorkspaceEvent,
  type RunError,
  type RunErrorCode,
  type RunEvent,
  reservedRunErrorCodes,
  runErrorCode,
  type TokenUsage,
  type WorkspaceEventType,
  workspaceEventData,
} from "./events.ts";
export { isReservedHeader } from "./http-operation.ts";
export {
  type GivenValue,
  type HttpOperation,
  type HttpToolBody,
  type HttpToolGrant,
  httpToolBody,
  type SecretKept,
  type ValueInDocument,
} from "./http-tool.ts";
export {
  createKeyBody,
  type Key,
  key,
  presets,
  type Scope,
  scopes,
  updateKeyBody,
  workspaceScopes,
} from "./keys.ts";
export {
  type AcceptedInvitation,
  acceptedInvitation,
  createInvitationBody,
  type Invitation,
  invitation,
  type Member,
  member,
  resetLink,
  updateMemberBody,
} from "./members.ts";
export {
  createProviderBody,
  defaultBaseUrls,
  type ModelList,
  modelList,
  type Provider,
  type ProviderCheck,
  type ProviderKind,
  provider,
  providerCheck,
  providerKind,
  updateProviderBody,
} from "./providers.ts";
export {
  type ErrorCode,
  type ErrorResponse,
  emptyBody,
  errorResponse,
  eventsQuery,
  fireResponse,
  invokeResponse,
  type PageQuery,
  pageQuery,
} from "./responses.ts";
export { type Role, role, roleScopes } from "./roles.ts";
export {
  agentRunsQuery,
  cancelledRuns,
  cancelRunsBody,
  deletedRuns,
  deleteRunsBody,
  invokeBody,
  type Run,
  type RunFilter,
  type RunSource,
  type RunStatus,
  retryRunBody,
  run,
  runsQuery,
} from "./runs.ts";
export {
  type OutputEvent,
  type StreamClosed,
  type StreamEvent,
  streamEvent,
  streamQuery,
} from "./stream.ts";
export {
  isDotSegment,
  parseTemplate,
  parseUrlTemplate,
  soleName,
  type Template,
} from "./template.ts";
export { isStorableText } from "./text.ts";
export {
  type ImportedHttpTool,
  importHttpToolBody,
  type ToolGrant,
  type ToolGrantBody,
  type ToolInDocument,
} from "./tools.ts";
export { createTriggerBody, type Trigger, trigger, updateTriggerBody } from "./triggers.ts";
export { schemaMistake, type ValueSchema, type ValueType, valueTypes } from "./value-schema.ts";
export {
  type StreamNotice,
  type WorkspaceEvent,
  workspaceEvent,
  workspaceEventsQuery,
  workspaceStreamQuery,
} from "./workspace-events.ts";
export {
  createWorkspaceBody,
  updateWorkspaceBody,
  type Workspace,
  workspace,
} from "./workspaces.ts";
