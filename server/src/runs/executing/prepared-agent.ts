import type { AgentConfig } from "@beckon/contract";
import type { Circuit, Model, Tool } from "../../engine/index.ts";

/** An agent's version with the model and tools to execute it. */
export interface PreparedAgent {
  readonly config: AgentConfig;
  readonly model: Model;
  /** Shared by all agents of the workspace with this model; undefined for the built-in model. */
  readonly circuit: Circuit | undefined;
  readonly tools: readonly Tool[];
}
