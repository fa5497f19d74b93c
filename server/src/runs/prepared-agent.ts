import type { AgentConfig } from "@beckon/contract";
import type { Model, Tool } from "../engine/index.ts";

/** An agent's version, ready to be executed. */
export interface PreparedAgent {
  readonly config: AgentConfig;
  readonly model: Model;
  readonly tools: readonly Tool[];
}
