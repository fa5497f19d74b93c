// Operations on agents together with their triggers: export, import, and restore after a deletion.
export { type ExportedDocument, exportAgent, exportAgents } from "./export-agents.ts";
export { importAgents } from "./import-agents.ts";
export { restoreAgent } from "./restore-agent.ts";
