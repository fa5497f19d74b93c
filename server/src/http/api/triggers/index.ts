export { presetRoutes, receivedRequestRoutes } from "./received-requests.ts";
export { triggerRoutes } from "./triggers.ts";
