import type { AgentConfig } from "@beckon/contract";
import type { Circuit, Model, PriceOf, Tool } from "../../engine/index.ts";

/** An agent's version with the model and tools to execute it. */
export interface PreparedAgent {
  readonly config: AgentConfig;
  readonly model: Model;
  /**
   * Circuit breaker of the model, shared by all agents of the workspace that use the model;
   * undefined for the built-in model, which has none.
   */
  readonly circuit: Circuit | undefined;
  /** Returns the price of a call of the model, from its token usage. */
  readonly priceOf: PriceOf;
  readonly tools: readonly Tool[];
  /** Memory that the configuration of a draft run takes, in bytes; 0 for an agent's version. */
  readonly configBytes: number;
}
