import type { ManagedRoute } from "../managed-route.ts";
import { agentRoutes } from "./agents.ts";
import { auditRoutes } from "./audit.ts";
import { keyRoutes } from "./keys.ts";
import { providerRoutes } from "./providers.ts";
import { runRoutes } from "./runs.ts";
import { toolRoutes } from "./tools.ts";
import { triggerRoutes } from "./triggers.ts";

/** Every route of the management API. */
export const managedRoutes: readonly ManagedRoute[] = [
  ...agentRoutes,
  ...triggerRoutes,
  ...runRoutes,
  ...providerRoutes,
  ...toolRoutes,
  ...keyRoutes,
  ...auditRoutes,
];
