import type { ManagedRoute } from "../management/index.ts";
import { agentVersionRoutes } from "./agent-versions.ts";
import { agentRoutes } from "./agents.ts";
import { agentsDocumentRoutes } from "./agents-document.ts";
import { auditRoutes } from "./audit.ts";
import { eventRoutes } from "./events.ts";
import { keyRoutes } from "./keys.ts";
import { limitRoutes } from "./limits.ts";
import { memberRoutes } from "./members.ts";
import { planRoutes } from "./plans.ts";
import { priceRoutes } from "./prices.ts";
import { providerRoutes } from "./providers.ts";
import { runRoutes } from "./runs.ts";
import { deliveryRoutes, subscriptionRoutes } from "./subscriptions/index.ts";
import { toolRoutes } from "./tools.ts";
import { presetRoutes, receivedRequestRoutes, triggerRoutes } from "./triggers/index.ts";
import { usageRoutes } from "./usage.ts";
import { workspaceRoutes } from "./workspaces.ts";

/** Every route of the management API. */
export const managedRoutes: readonly ManagedRoute[] = [
  ...agentRoutes,
  ...agentVersionRoutes,
  ...agentsDocumentRoutes,
  ...triggerRoutes,
  ...receivedRequestRoutes,
  ...presetRoutes,
  ...runRoutes,
  ...eventRoutes,
  ...subscriptionRoutes,
  ...deliveryRoutes,
  ...providerRoutes,
  ...priceRoutes,
  ...toolRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...limitRoutes,
  ...planRoutes,
  ...auditRoutes,
  ...workspaceRoutes,
  ...memberRoutes,
];
export { accountRoutes } from "./accounts.ts";
