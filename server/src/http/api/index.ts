import type { ManagedRoute } from "../management/index.ts";
import { agentVersionRoutes } from "./agent-versions.ts";
import { agentRoutes } from "./agents.ts";
import { agentsDocumentRoutes } from "./agents-document.ts";
import { auditRoutes } from "./audit.ts";
import { eventRoutes } from "./events.ts";
import { keyRoutes } from "./keys.ts";
import { limitRoutes } from "./limits.ts";
import { invitationRoutes, memberRoutes } from "./members.ts";
import { planRoutes } from "./plans.ts";
import { priceRoutes } from "./prices.ts";
import { providerRoutes } from "./providers.ts";
import { runRoutes } from "./runs.ts";
import { deliveryRoutes, runDeliveryRoutes, subscriptionRoutes } from "./subscriptions/index.ts";
import { toolRoutes } from "./tools.ts";
import { presetRoutes, receivedRequestRoutes, triggerRoutes } from "./triggers/index.ts";
import { usageRoutes } from "./usage.ts";
import { workspaceRoutes } from "./workspaces.ts";

/** The routes of the management API, by their tag in the OpenAPI document. */
export const routesByTag = {
  agents: [...agentRoutes, ...agentVersionRoutes, ...agentsDocumentRoutes],
  triggers: [...triggerRoutes, ...receivedRequestRoutes, ...presetRoutes],
  runs: [...runRoutes, ...runDeliveryRoutes],
  events: eventRoutes,
  subscriptions: [...subscriptionRoutes, ...deliveryRoutes],
  providers: providerRoutes,
  prices: priceRoutes,
  tools: toolRoutes,
  keys: keyRoutes,
  usage: usageRoutes,
  limits: limitRoutes,
  plans: planRoutes,
  audit: auditRoutes,
  workspaces: workspaceRoutes,
  members: memberRoutes,
  invitations: invitationRoutes,
} satisfies Readonly<Record<string, readonly ManagedRoute[]>>;

/** Every route of the management API. */
export const managedRoutes: readonly ManagedRoute[] = Object.values(routesByTag).flat();
export { accountRoutes } from "./accounts.ts";
