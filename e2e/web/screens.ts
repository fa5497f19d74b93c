import type { FilledDashboard } from "./filled-dashboard.ts";

/** State of a screen. `failing`: its API calls get 503. `dialog`: its dialog is open. */
export type ScreenState = "normal" | "empty" | "failing" | "dialog";

/** The name of a button, link, menu item or checkbox to press; a text is a key to press. */
type DialogStep = RegExp | string;

/**
 * A screen of the dashboard. The table `screens` below has every screen: `script/screens` makes a
 * picture of each, `accessibility.test.ts` and `soak/` check each with axe-core, and
 * `screens.test.ts` compares the table with web/src/routes.tsx.
 */
export interface Screen {
  /** Unique. The file names of its pictures begin with it. */
  readonly name: string;
  /** The module that routes.tsx loads, in web/src. */
  readonly module: string;
  /** Returns the path at which the screen has data. */
  readonly path: (of: FilledDashboard) => string;
  /** Returns the path at which the screen is empty; undefined if there is no such path. */
  readonly empty?: (of: FilledDashboard) => string;
  /** What opens a dialog, in this order; undefined if the screen has no dialog. */
  readonly dialog?: readonly DialogStep[];
  /** The only state in which the screen is shown; undefined if it is shown in all its states. */
  readonly only?: ScreenState;
  /** Whether the screen exists only on phones. */
  readonly onPhones?: true;
  /** Returns entries of the tab's session storage with which the screen is shown. */
  readonly stored?: (of: FilledDashboard) => Readonly<Record<string, string>>;
  /** Whether the path leads to nothing, so that the screen says what was not found. */
  readonly isMissing?: true;
  /** Whether the screen itself makes no API calls. It then has no state `failing`. */
  readonly isStatic?: true;
  /** Whether the screen needs no session. */
  readonly outside?: true;
}

const inWorkspace = (path: string) => ({
  path: ({ owner }: FilledDashboard) => `/w/${owner.workspaceId}${path}`,
  empty: ({ emptyWorkspaceId }: FilledDashboard) => `/w/${emptyWorkspaceId}${path}`,
});

const ofAgent = (path: string) => ({
  path: ({ owner, agentId }: FilledDashboard) => `/w/${owner.workspaceId}/agents/${agentId}${path}`,
  empty: ({ owner, bareAgentId }: FilledDashboard) =>
    `/w/${owner.workspaceId}/agents/${bareAgentId}${path}`,
});

const ofGithub = (rest: (github: FilledDashboard["github"]) => string) => ({
  path: ({ owner, agentId, github }: FilledDashboard) =>
    `/w/${owner.workspaceId}/agents/${agentId}/triggers/${github.triggerId}${rest(github)}`,
});

const ofRun = (runOf: (of: FilledDashboard) => string) => ({
  path: (of: FilledDashboard) => `/w/${of.owner.workspaceId}/runs/${runOf(of)}`,
});

const ofSubscription = (idOf: (of: FilledDashboard) => string) => ({
  path: (of: FilledDashboard) => `/w/${of.owner.workspaceId}/subscriptions/${idOf(of)}`,
});

const run = "runs/run/run-screen.tsx";
const runs = "runs/list/runs-screen.tsx";
const newAgent = "agents/new/new-agent-screen.tsx";
const playground = "agents/playground/playground-screen.tsx";
const overview = "overview/overview-screen.tsx";

export const screens: readonly Screen[] = [
  {
    name: "sign-in",
    module: "accounts/sign-in-screen.tsx",
    path: () => "/sign-in",
    isStatic: true,
    outside: true,
  },
  {
    name: "setup",
    module: "accounts/setup-screen.tsx",
    path: () => "/setup#token=bks_used",
    outside: true,
  },
  {
    name: "invite",
    module: "accounts/invite-screen.tsx",
    path: ({ inviteToken }) => `/invite#token=${inviteToken}`,
    empty: () => "/invite#token=bki_used",
    outside: true,
  },
  {
    name: "reset",
    module: "accounts/reset-screen.tsx",
    path: ({ resetToken }) => `/reset#token=${resetToken}`,
    empty: () => "/reset#token=bkr_used",
    outside: true,
  },
  { name: "overview", module: overview, ...inWorkspace("") },
  { name: "palette", module: overview, ...inWorkspace(""), only: "dialog", dialog: ["Control+K"] },
  { name: "keys-list", module: overview, ...inWorkspace(""), only: "dialog", dialog: ["Shift+?"] },
  {
    name: "more",
    module: overview,
    ...inWorkspace(""),
    only: "dialog",
    dialog: [/^More$/],
    onPhones: true,
  },
  { name: "runs", module: runs, ...inWorkspace("/runs") },
  {
    name: "runs-no-match",
    module: runs,
    path: ({ owner }) => `/w/${owner.workspaceId}/runs?external_id=none`,
  },
  {
    name: "runs-cancel",
    module: runs,
    ...inWorkspace("/runs"),
    only: "dialog",
    dialog: [/^Select all loaded rows/, /^Cancel$/],
  },
  {
    name: "runs-delete",
    module: runs,
    ...inWorkspace("/runs"),
    only: "dialog",
    dialog: [/^Select all loaded rows/, /^Delete$/],
  },
  { name: "run", module: run, ...ofRun(({ runs }) => runs.succeeded) },
  {
    name: "run-input",
    module: run,
    ...ofRun(({ runs }) => `${runs.succeeded}?tab=input`),
    only: "normal",
  },
  {
    name: "run-output",
    module: run,
    ...ofRun(({ runs }) => `${runs.succeeded}?tab=output`),
    only: "normal",
  },
  {
    name: "run-journal",
    module: run,
    ...ofRun(({ runs }) => `${runs.succeeded}?tab=journal`),
    only: "normal",
  },
  {
    name: "run-deliveries",
    module: run,
    ...ofRun(({ runs }) => `${runs.succeeded}?tab=deliveries`),
  },
  {
    name: "run-failed",
    module: run,
    ...ofRun(({ runs }) => runs.failed),
    dialog: [/^Retry/, /^With another input/],
  },
  {
    name: "run-compared",
    module: run,
    ...ofRun(({ runs }) => `${runs.retried}?compare=1`),
    only: "normal",
  },
  { name: "run-running", module: run, ...ofRun(({ runs }) => runs.running) },
  { name: "run-many-steps", module: run, ...ofRun(({ runs }) => runs.long) },
  {
    name: "run-missing",
    module: run,
    ...ofRun(() => "run_01jdb8tq5ke5ktbqrs4n1h9m0z"),
    isMissing: true,
  },
  { name: "agents", module: "agents/list/agents-screen.tsx", ...inWorkspace("/agents") },
  {
    name: "agents-deleted",
    module: "agents/list/agents-screen.tsx",
    ...inWorkspace("/agents?deleted=true"),
  },
  { name: "agent-new", module: newAgent, ...inWorkspace("/agents/new") },
  {
    name: "agent-new-template",
    module: newAgent,
    path: inWorkspace("/agents/new?from=template").path,
    only: "normal",
  },
  {
    name: "agent-new-import",
    module: newAgent,
    path: inWorkspace("/agents/new?from=import").path,
    only: "normal",
  },
  {
    name: "playground",
    module: playground,
    ...ofAgent("/playground"),
    dialog: [/^Pause/],
  },
  {
    name: "playground-answers",
    module: playground,
    path: ({ owner, answers }) => `/w/${owner.workspaceId}/agents/${answers.agentId}/playground`,
    stored: ({ answers }) => ({
      [`beckon.playground.${answers.userId}.${answers.agentId}`]: answers.runIds.join(" "),
    }),
    only: "normal",
  },
  {
    name: "first-run",
    module: playground,
    path: ({ firstRun }) => `/w/${firstRun.workspaceId}/agents/${firstRun.agentId}/playground`,
  },
  {
    name: "agent-settings",
    module: "agents/settings/settings-screen.tsx",
    ...ofAgent("/settings"),
  },
  {
    name: "agent-settings-long",
    module: "agents/settings/settings-screen.tsx",
    path: ({ owner, longAgentId }) => `/w/${owner.workspaceId}/agents/${longAgentId}/settings`,
  },
  {
    name: "connect",
    module: "agents/connect/connect-screen.tsx",
    ...ofAgent("/connect"),
    dialog: [/^Rotate/],
  },
  {
    name: "triggers",
    module: "triggers/list/triggers-home.tsx",
    ...ofAgent("/triggers"),
    dialog: [/^New trigger/],
  },
  {
    name: "trigger",
    module: "triggers/trigger/trigger-screen.tsx",
    path: ({ owner, agentId, triggerId }) =>
      `/w/${owner.workspaceId}/agents/${agentId}/triggers/${triggerId}`,
    dialog: [/^Rotate/],
  },
  {
    name: "trigger-github",
    module: "triggers/trigger/trigger-screen.tsx",
    ...ofGithub(() => ""),
  },
  {
    name: "trigger-settings",
    module: "triggers/receiving/settings-screen.tsx",
    ...ofGithub(() => "/settings"),
  },
  {
    name: "received-request",
    module: "triggers/requests/request-screen.tsx",
    ...ofGithub(({ requests }) => `/requests/${requests.started}`),
  },
  {
    name: "received-request-not-verified",
    module: "triggers/requests/request-screen.tsx",
    ...ofGithub(({ requests }) => `/requests/${requests.notVerified}`),
  },
  { name: "agent-runs", module: "runs/list/agent-runs-screen.tsx", ...ofAgent("/runs") },
  {
    name: "versions",
    module: "agents/versions/versions-screen.tsx",
    ...ofAgent("/versions"),
    dialog: [/^Restore version/],
  },
  {
    name: "providers",
    module: "providers/providers-screen.tsx",
    ...inWorkspace("/providers"),
    dialog: [/^More about local/, /^Edit/],
  },
  { name: "keys", module: "keys/keys-screen.tsx", ...inWorkspace("/keys"), dialog: [/^New key/] },
  {
    name: "subscriptions",
    module: "subscriptions/screens.ts",
    ...inWorkspace("/subscriptions"),
    dialog: [/^New subscription/],
  },
  {
    name: "subscription",
    module: "subscriptions/screens.ts",
    ...ofSubscription(({ subscriptions: { working } }) => working),
    dialog: [/^Send test/],
  },
  {
    name: "subscription-failing",
    module: "subscriptions/screens.ts",
    ...ofSubscription(({ subscriptions: { failing } }) => failing),
  },
  {
    name: "subscription-edit",
    module: "subscriptions/screens.ts",
    ...ofSubscription(({ subscriptions: { failing } }) => `${failing}?act=edit`),
  },
  {
    name: "subscription-paused",
    module: "subscriptions/screens.ts",
    ...ofSubscription(({ subscriptions: { paused } }) => paused),
    dialog: [/^Resume/],
  },
  {
    name: "subscription-replay",
    module: "subscriptions/screens.ts",
    ...ofSubscription(({ subscriptions: { working } }) => `${working}?status=failed`),
    dialog: [/^Replay/],
  },
  {
    name: "delivery",
    module: "subscriptions/screens.ts",
    ...ofSubscription(
      ({ subscriptions: { working }, deliveries }) =>
        `${working}/deliveries/${deliveries.succeeded}`,
    ),
  },
  {
    name: "delivery-failing",
    module: "subscriptions/screens.ts",
    ...ofSubscription(
      ({ subscriptions: { failing }, deliveries }) => `${failing}/deliveries/${deliveries.failing}`,
    ),
  },
  { name: "usage", module: "usage/usage-screen.tsx", ...inWorkspace("/usage") },
  {
    name: "usage-table",
    module: "usage/usage-screen.tsx",
    ...inWorkspace("/usage?as=table&group_by=model&show=tokens"),
  },
  {
    name: "plan",
    module: "plan/plan-screen.tsx",
    ...inWorkspace("/plan"),
    dialog: [/^New ceiling/],
  },
  { name: "prices", module: "prices/prices-screen.tsx", ...inWorkspace("/prices") },
  {
    name: "members",
    module: "members/members-screen.tsx",
    ...inWorkspace("/members"),
    dialog: [/^Invite/],
  },
  { name: "audit", module: "audit/audit-screen.tsx", ...inWorkspace("/audit") },
  {
    name: "audit-entry",
    module: "audit/audit-screen.tsx",
    path: ({ owner, auditEntry: { id, time } }) =>
      `/w/${owner.workspaceId}/audit?${new URLSearchParams({ entry: id, at: time })}`,
    only: "normal",
  },
  {
    name: "settings",
    module: "workspaces/settings-screen.tsx",
    ...inWorkspace("/settings"),
    dialog: [/^New workspace/],
  },
  {
    name: "account",
    module: "workspaces/settings-screen.tsx",
    path: inWorkspace("/settings?tab=account").path,
  },
  {
    name: "not-found",
    module: "shell/index.ts",
    path: ({ owner }) => `/w/${owner.workspaceId}/nowhere`,
    isMissing: true,
    isStatic: true,
  },
];
