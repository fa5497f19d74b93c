import type { AgentConfig, ToolGrant, UpdateAgentBody } from "@beckon/contract";
import { withoutUndefined } from "../base/json/index.ts";

/** A change of an agent in which the secrets of the tools are replaced by references. */
export type ConfigChange = Omit<UpdateAgentBody, "tools"> & {
  readonly tools: ToolGrant[] | undefined;
};

/**
 * Returns the configuration after a change: the fields present in `change` are replaced.
 * `model_settings` and `limits` are merged by field.
 */
export function mergeConfig(config: AgentConfig, change: ConfigChange): AgentConfig {
  return {
    ...config,
    ...withoutUndefined(change),
    model_settings: withoutNulls({ ...config.model_settings, ...change.model_settings }),
    limits: { ...config.limits, ...(change.limits as Partial<AgentConfig["limits"]>) },
  };
}

/** Returns the model settings to store: null means that a setting is not set. */
export function withoutNulls(
  given: NonNullable<UpdateAgentBody["model_settings"]>,
): AgentConfig["model_settings"] {
  const set = Object.entries(given).filter(([, value]) => value != null);
  return Object.fromEntries(set) as AgentConfig["model_settings"];
}
