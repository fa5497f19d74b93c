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
  type ToolGrant,
  type UpdateAgentBody,
  updateAgentBody,
} from "./agents.ts";
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
export { isStorableText } from "./text.ts";
export { createTriggerBody, type Trigger, trigger, updateTriggerBody } from "./triggers.ts";
