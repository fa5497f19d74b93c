export { codeOf, sentenceOf } from "../ui/index.ts";
export { changesOf } from "./changes.ts";
export { account, clientOf, handleUnauthorized, sentOnce } from "./client.ts";
export { defaultWorkspaceId } from "./default-workspace.ts";
export {
  errorOf,
  firstCallError,
  isNotFound,
  isOutcomeUnknown,
  isStale,
  isUnauthorized,
} from "./errors.ts";
export { failureOf, failureWords } from "./failure-of.ts";
export { fieldErrorOf } from "./form/field-error-of.ts";
export { fillIn } from "./form/fill-in.ts";
export { messageOf, wording } from "./form/form-messages.ts";
export { numberIn, wholeNumberIn } from "./form/number-in.ts";
export { graceEnd, useRotation } from "./form/use-rotation.ts";
export {
  keyOfBody,
  storedAttempt,
  storedIdempotencyKey,
  useIdempotencyKey,
} from "./idempotency-key.ts";
export {
  hasNewRows,
  listOptions,
  maxUpdated,
  type PageQuery,
  pageSize,
  type RowPages,
  updateKnown,
  updateRows,
  useInvalidation,
  useList,
  whenFetched,
} from "./list.ts";
export { type Membership, meQuery, useMe } from "./me.ts";
export {
  notSavedText,
  type Patching,
  type PatchState,
  savedResource,
  usePatch,
} from "./patch.ts";
export { nextPath, workspaceIn } from "./paths/next-path.ts";
export { resourcePath } from "./paths/resource-path.ts";
export { createQueryClient } from "./query-client.ts";
export { RefetchNotice, useIsGone } from "./refetch-notice.tsx";
export { roleFor } from "./role-for.ts";
export { firstRows } from "./rows/first-rows.ts";
export { heldWhileScrolled, refetchFirstPage } from "./rows/held-rows.ts";
export { ListStatus } from "./rows/list-status.tsx";
export { useRowUpdates } from "./rows/use-row-updates.ts";
export { serverNow, toServerTime } from "./server-time.ts";
export {
  createSession,
  type OpenPage,
  type SessionControl,
  SessionProvider,
  useIsExpired,
  useSession,
} from "./session.ts";
export { forgetWorkspace, lastWorkspace, rememberWorkspace } from "./storage/last-workspace.ts";
export { forgetKept, keep, keepOrForget, keptKey, readKept } from "./storage/tab-storage.ts";
export { useKept } from "./storage/use-kept.ts";
export {
  announceChanges,
  announceIfOutdated,
  announceSignIn,
  announceSignOut,
  followChanges,
} from "./tabs.ts";
export {
  type CurrentWorkspace,
  useWorkspace,
  WorkspaceProvider,
  workspaceQuery,
} from "./workspace.tsx";
