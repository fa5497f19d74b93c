// Agents together with their triggers: what an installation hands on to another, and what comes back after a deletion.
export { type ExportedDocument, exportAgent, exportAgents } from "./export-agents.ts";
export { importAgents } from "./import-agents.ts";
export { restoreAgent } from "./restore-agent.ts";
