/**
 * Every route of the dashboard. This file is long because they are in one table.
 *
 * To add a screen: write `export function NameScreen()` in `<feature>/<name>-screen.tsx`, and add
 * one line to the feature's section of `screens` below. To show the screen in the navigation, the
 * palette and the keyboard shortcuts, also add it to shell/navigation/items.ts.
 *
 * - `scope` is the permission to read what the screen shows. Without it, the person sees a page
 *   that says which role they need.
 * - To read the parameters of the path, call `useParams({ strict: false })`.
 * - To read the search parameters, call `useSearch({ strict: false })`. It returns texts, not JSON:
 *   `{ status?: string, … }`. The feature's `queries.ts` parses them. To change some of them and
 *   keep the others, use `useChangeSearch` of ui/.
 * - A screen that contains other screens, for example as tabs, is a route with children, such as
 *   `workspace`.
 */
import type { Scope } from "@beckon/contract";
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isUnauthorized, lastWorkspace, meQuery, workspaceQuery } from "./data/index.ts";
import {
  BodySkeleton,
  CrashPage,
  LoadingPage,
  NotFoundPage,
  NoWorkspacePage,
  Root,
  ScreenSkeleton,
  ShellSkeleton,
  WorkspaceShell,
} from "./shell/index.ts";
import { importing } from "./ui/index.ts";

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface StaticDataRouteOption {
    /** The permission that the screen needs; undefined if every member can open it. */
    scope?: Scope;
  }
}

const root = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Root,
  notFoundComponent: NotFoundPage,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async ({ context }) => {
    const { workspaces } = await requireMe(context.queryClient);
    const last = lastWorkspace();
    const target = workspaces.find(({ id }) => id === last) ?? workspaces[0];
    if (target !== undefined)
      throw redirect({ to: "/w/$workspaceId", params: { workspaceId: target.id }, replace: true });
  },
  component: NoWorkspacePage,
});

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$workspaceId",
  beforeLoad: async ({ context, params, location }) => {
    const { workspaces } = await requireMe(context.queryClient, location.href);
    if (!workspaces.some(({ id }) => id === params.workspaceId)) throw notFound();
  },
  loader: ({ context, params }) =>
    context.queryClient.ensureQueryData(workspaceQuery(params.workspaceId)),
  component: WorkspaceShell,
  pendingComponent: ShellSkeleton,
});

/**
 * Matches any other path below a workspace, so that the page "not found" is shown beside the
 * workspace's navigation.
 */
const elsewhere = createRoute({
  getParentRoute: () => workspace,
  path: "$",
  component: NotFoundPage,
});

/**
 * Returns the signed-in person. If nobody is signed in, redirects to the sign-in page, which opens
 * `next` afterwards.
 */
async function requireMe(queryClient: QueryClient, next?: string) {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (thrown) {
    if (!isUnauthorized(thrown)) throw thrown;
    throw redirect({ href: signInPath(next), replace: true });
  }
}

const signInPath = (next: string | undefined) =>
  next === undefined ? "/sign-in" : `/sign-in?${new URLSearchParams({ next })}`;

const loadOverview = () => import("./overview/overview-screen.tsx");
const loadSubscriptions = () => import("./subscriptions/screens.ts");
const loadRun = () => import("./runs/run/run-screen.tsx");
const loadTrigger = () => import("./triggers/trigger/trigger-screen.tsx");

/**
 * Starts to load the code and data of the first screen at the same time. Otherwise routes and
 * components would send their requests one after the other. Failures are ignored here: the route
 * makes the same requests and shows their errors.
 */
export function startFirstScreen(queryClient: QueryClient, pathname: string): void {
  const [, workspaceId, path = ""] = /^\/w\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
  if (workspaceId === undefined) return;
  void queryClient.prefetchQuery(meQuery);
  void queryClient.prefetchQuery(workspaceQuery(workspaceId));
  const runId = /^\/runs\/(run_\w+)$/.exec(path)?.[1];
  const prefetched =
    path.length <= 1
      ? loadOverview().then(({ prefetch }) => prefetch(queryClient, { workspaceId }))
      : runId && loadRun().then(({ prefetch }) => prefetch(queryClient, { workspaceId, runId }));
  if (prefetched) prefetched.catch(() => {});
}

/** Returns a component whose code is loaded when its route is opened. */
function screen<Name extends string>(
  load: () => Promise<{ readonly [Key in Name]: () => ReactNode }>,
  name: Name,
): RouteComponent {
  return lazyRouteComponent(
    importing(load as () => Promise<Record<string, () => ReactNode>>),
    name,
  );
}

/** Creates the route of a page outside of workspaces. */
const outside = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component });

/** Creates the route of a screen of a workspace. `scope` is the permission to see the screen. */
const inWorkspace = <const Path extends string>(
  path: Path,
  scope: Scope,
  component: RouteComponent,
) =>
  createRoute({
    getParentRoute: () => workspace,
    path,
    component,
    pendingComponent: ScreenSkeleton,
    staticData: { scope },
  });

/** The frame of an agent's screens. The path of the agent redirects to the first tab. */
const agent = inWorkspace(
  "/agents/$agentId",
  "agents:read",
  screen(() => import("./agents/frame/agent-frame.tsx"), "AgentFrame"),
);

/** Creates the route of a screen of an agent. It becomes a tab if `agents/frame/tabs.ts` has it. */
const inAgent = <const Path extends string>(path: Path, scope: Scope, component: RouteComponent) =>
  createRoute({
    getParentRoute: () => agent,
    path,
    component,
    pendingComponent: BodySkeleton,
    staticData: { scope },
  });

/** The frame of the two screens that edit an agent's settings. It adds nothing to the path. */
const agentSettings = createRoute({
  getParentRoute: () => agent,
  id: "edit",
  component: screen(() => import("./agents/settings/settings-frame.tsx"), "SettingsFrame"),
  pendingComponent: BodySkeleton,
  staticData: { scope: "agents:read" },
});

const inAgentSettings = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({
    getParentRoute: () => agentSettings,
    path,
    component,
    pendingComponent: BodySkeleton,
  });

/** The frame of an agent's triggers: the list, and beside it the open trigger. */
const triggers = inAgent(
  "/triggers",
  "triggers:read",
  screen(() => import("./triggers/list/triggers-screen.tsx"), "TriggersScreen"),
);

const inTriggers = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({
    getParentRoute: () => triggers,
    path,
    component,
    pendingComponent: BodySkeleton,
  });

const screens = {
  outside: [
    outside(
      "/sign-in",
      screen(() => import("./accounts/sign-in-screen.tsx"), "SignInScreen"),
    ),
    outside(
      "/setup",
      screen(() => import("./accounts/setup-screen.tsx"), "SetupScreen"),
    ),
    outside(
      "/invite",
      screen(() => import("./accounts/invite-screen.tsx"), "InviteScreen"),
    ),
    outside(
      "/reset",
      screen(() => import("./accounts/reset-screen.tsx"), "ResetScreen"),
    ),
  ],
  overview: [inWorkspace("/", "runs:read", screen(loadOverview, "OverviewScreen"))],
  runs: [
    inWorkspace(
      "/runs",
      "runs:read",
      screen(() => import("./runs/list/runs-screen.tsx"), "RunsScreen"),
    ),
    inWorkspace("/runs/$runId", "runs:read", screen(loadRun, "RunScreen")),
  ],
  agents: [
    inWorkspace(
      "/agents",
      "agents:read",
      screen(() => import("./agents/list/agents-screen.tsx"), "AgentsScreen"),
    ),
    inWorkspace(
      "/agents/new",
      "agents:read",
      screen(() => import("./agents/new/new-agent-screen.tsx"), "NewAgentScreen"),
    ),
  ],
  inAgent: [
    inAgent(
      "/",
      "agents:read",
      screen(() => import("./agents/frame/agent-home.tsx"), "AgentHome"),
    ),
    agentSettings.addChildren([
      inAgentSettings(
        "/playground",
        screen(() => import("./agents/playground/playground-screen.tsx"), "PlaygroundScreen"),
      ),
      inAgentSettings(
        "/settings",
        screen(() => import("./agents/settings/settings-screen.tsx"), "SettingsScreen"),
      ),
    ]),
    inAgent(
      "/runs",
      "runs:read",
      screen(() => import("./runs/list/agent-runs-screen.tsx"), "AgentRunsScreen"),
    ),
    triggers.addChildren([
      inTriggers(
        "/",
        screen(() => {
          // It opens the first trigger, whose code is loaded in the meantime. A failure is ignored
          // here. It is shown when the trigger is opened.
          loadTrigger().catch(() => {});
          return import("./triggers/list/triggers-home.tsx");
        }, "TriggersHome"),
      ),
      inTriggers("/$triggerId", screen(loadTrigger, "TriggerScreen")),
    ]),
    inAgent(
      "/triggers/$triggerId/settings",
      "triggers:read",
      screen(() => import("./triggers/receiving/settings-screen.tsx"), "TriggerSettingsScreen"),
    ),
    inAgent(
      "/triggers/$triggerId/requests/$requestId",
      "triggers:read",
      screen(() => import("./triggers/requests/request-screen.tsx"), "RequestScreen"),
    ),
    inAgent(
      "/connect",
      "agents:read",
      screen(() => import("./agents/connect/connect-screen.tsx"), "ConnectScreen"),
    ),
    inAgent(
      "/versions",
      "agents:read",
      screen(() => import("./agents/versions/versions-screen.tsx"), "VersionsScreen"),
    ),
  ],
  providers: [
    inWorkspace(
      "/providers",
      "providers:read",
      screen(() => import("./providers/providers-screen.tsx"), "ProvidersScreen"),
    ),
  ],
  keys: [
    inWorkspace(
      "/keys",
      "keys:read",
      screen(() => import("./keys/keys-screen.tsx"), "KeysScreen"),
    ),
  ],
  subscriptions: [
    inWorkspace(
      "/subscriptions",
      "subscriptions:read",
      screen(loadSubscriptions, "SubscriptionsScreen"),
    ),
    inWorkspace(
      "/subscriptions/$subscriptionId",
      "subscriptions:read",
      screen(loadSubscriptions, "SubscriptionScreen"),
    ),
    inWorkspace(
      "/subscriptions/$subscriptionId/deliveries/$deliveryId",
      "subscriptions:read",
      screen(loadSubscriptions, "DeliveryScreen"),
    ),
  ],
  usage: [
    inWorkspace(
      "/usage",
      "usage:read",
      screen(() => import("./usage/usage-screen.tsx"), "UsageScreen"),
    ),
  ],
  plan: [
    inWorkspace(
      "/plan",
      "usage:read",
      screen(() => import("./plan/plan-screen.tsx"), "PlanScreen"),
    ),
    inWorkspace(
      "/prices",
      "providers:read",
      screen(() => import("./prices/prices-screen.tsx"), "PricesScreen"),
    ),
  ],
  members: [
    inWorkspace(
      "/members",
      "members:read",
      screen(() => import("./members/members-screen.tsx"), "MembersScreen"),
    ),
  ],
  audit: [
    inWorkspace(
      "/audit",
      "audit:read",
      screen(() => import("./audit/audit-screen.tsx"), "AuditScreen"),
    ),
  ],
  settings: [
    inWorkspace(
      "/settings",
      "workspaces:read",
      screen(() => import("./workspaces/settings-screen.tsx"), "SettingsScreen"),
    ),
  ],
} as const;

/** Returns false for the paths of pages that are also shown if nobody is signed in. */
export function needsSession(pathname: string): boolean {
  return screens.outside.every(({ fullPath }) => fullPath !== pathname);
}

const routeTree = root.addChildren([
  home,
  ...screens.outside,
  workspace.addChildren([
    ...screens.overview,
    ...screens.runs,
    ...screens.agents,
    agent.addChildren([...screens.inAgent]),
    ...screens.providers,
    ...screens.keys,
    ...screens.subscriptions,
    ...screens.usage,
    ...screens.plan,
    ...screens.members,
    ...screens.audit,
    ...screens.settings,
    elsewhere,
  ]),
]);

/**
 * Creates the router. Search parameters are not parsed as JSON, so that a filter is written in the
 * page's URL in the same way as in a URL of the API.
 */
export function createAppRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree,
    context: { queryClient },
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
      return text.size === 0 ? "" : `?${text}`;
    },
    defaultPendingComponent: LoadingPage,
    defaultPendingMs: 150,
    // By default, the router would show a skeleton for at least 500 ms, and a screen inside of
    // another one would only then begin to load.
    defaultPendingMinMs: 0,
    defaultErrorComponent: CrashPage,
    defaultNotFoundComponent: NotFoundPage,
    // Routes cache nothing, because the queries decide which data is stale.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    // When a person leaves a screen that is still loading, the router saves the position of the
    // page for the screen before it. But the page shows a skeleton, which is shorter than that
    // screen. So the position is saved under a key that nothing reads.
    getScrollRestorationKey: ({ state, href }): string =>
      router.state.status === "pending" ? "loading" : (state.__TSR_key ?? href),
  });
  return router;
}
