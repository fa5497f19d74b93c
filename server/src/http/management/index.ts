export { type AccountRoute, handleAccount } from "./account-route.ts";
export { agentsFile } from "./agents-file.ts";
export { handleManaged, type ManagedRequest, type ManagedRoute } from "./managed-route.ts";
export { errorsOf, type RouteDoc } from "./route-doc.ts";
