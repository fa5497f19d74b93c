export { type AccountRoute, handleAccount } from "./account-route.ts";
export { agentsFile } from "./agents-file.ts";
export { artifactFile } from "./artifact-file.ts";
export { dataOf, handleManaged, type ManagedRequest, type ManagedRoute } from "./managed-route.ts";
export { errorsOf, type RouteDoc, statusOf } from "./route-doc.ts";
