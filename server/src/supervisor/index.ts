export { type ClaimedPort, claimPort } from "./claim-port.ts";
export { greeting } from "./greeting.ts";
export { keepServers } from "./keep-servers.ts";
export { type Demo, type FoundProvider, parseFromSupervisor, type Ready } from "./messages.ts";
