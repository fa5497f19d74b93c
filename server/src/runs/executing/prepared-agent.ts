import type { AgentConfig } from "@beckon/contract";
import type { Circuit, Model, Tool } from "../../engine/index.ts";

/** An agent's version, ready to be executed. */
export interface PreparedAgent {
  readonly config: AgentConfig;
  readonly model: Model;
  /** Shared with all other agents of the workspace that have this model; undefined: built in. */
  readonly circuit: Circuit | undefined;
  readonly tools: readonly Tool[];
}
