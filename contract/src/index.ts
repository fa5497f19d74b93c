export {
  type Agent,
  type AgentConfig,
  agent,
  agentConfig,
  createAgentBody,
  type Limits,
  type ModelSettings,
  pauseAgentBody,
  rotateBody,
  type UpdateAgentBody,
  updateAgentBody,
} from "./agents.ts";
export { isAllowed } from "./allowed-host.ts";
export {
  type ErrorAnswer,
  emptyBody,
  errorAnswer,
  eventsQuery,
  fireAnswer,
  invokeAnswer,
  type PageQuery,
  pageQuery,
  type RefusalCode,
} from "./answers.ts";
export { type AuditEntry, type AuditFilter, auditEntry, auditExportQuery, auditQuery } from "./audit.ts";
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
  type RunError,
  type RunErrorCode,
  type RunEvent,
  type TokenUsage,
} from "./events.ts";
export { isReservedHeader } from "./http-operation.ts";
export { type GivenValue, type HttpOperation, type HttpToolBody, type HttpToolGrant, httpToolBody, type SecretKept } from "./http-tool.ts";
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
  createProviderBody,
  defaultBaseUrls,
  type Provider,
  type ProviderCheck,
  type ProviderKind,
  provider,
  providerCheck,
  providerKind,
  updateProviderBody,
} from "./providers.ts";
export { invokeBody, type Run, type RunSource, type RunStatus, run } from "./runs.ts";
export { isDotSegment, parseTemplate, parseUrlTemplate, soleName, type Template } from "./template.ts";
export { isStorableText } from "./text.ts";
export { type ImportedHttpTool, importHttpToolBody, type ToolGrant, type ToolGrantBody } from "./tools.ts";
export { createTriggerBody, type Trigger, trigger, updateTriggerBody } from "./triggers.ts";
export { schemaMistake, type ValueSchema, type ValueType, valueTypes } from "./value-schema.ts";
