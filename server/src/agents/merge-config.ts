import type { AgentConfig, ToolGrant, UpdateAgentBody } from "@beckon/contract";

/** A change of an agent in which the secrets of the tools are replaced by references. */
export type ConfigChange = Omit<UpdateAgentBody, "tools"> & {
  readonly tools: ToolGrant[] | undefined;
};

/**
 * Returns the configuration after a change: the fields present in `change` are replaced.
 * `model_settings` and `limits` are merged by field.
 */
export function mergeConfig(config: AgentConfig, change: ConfigChange): AgentConfig {
  const present = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  );
  // null removes a model setting.
  const settings = Object.entries({ ...config.model_settings, ...change.model_settings }).filter(
    ([, value]) => value != null,
  );
  return {
    ...config,
    ...present,
    model_settings: Object.fromEntries(settings) as AgentConfig["model_settings"],
    limits: { ...config.limits, ...(change.limits as Partial<AgentConfig["limits"]>) },
  };
}
